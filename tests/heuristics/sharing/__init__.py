"""Tests of the heuristics for waiting over time."""
