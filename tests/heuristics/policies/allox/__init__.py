"""Tests of `heuristics.policies.allox`."""
