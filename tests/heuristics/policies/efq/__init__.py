"""Tests of `heuristics.policies.efq`."""
