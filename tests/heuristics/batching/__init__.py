"""Tests of the heuristics for batching."""
