"""Evaluation: the public functions that load, solve, compare, simulate and judge."""
