"""Readers of public traces, one per file format: each gives a `Workload`, and a report of bad rows."""
