"""Tests of heuristics.policies."""
