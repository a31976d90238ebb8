"""Scenario: the jobs, speeds, cluster and events that a simulation takes as input."""
