"""Evaluation: the public functions that load instances, solve them, compare methods, simulate and judge."""
