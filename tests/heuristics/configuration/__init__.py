"""Tests of the heuristics for configuration."""
