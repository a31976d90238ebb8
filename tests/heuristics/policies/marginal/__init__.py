"""Tests of `heuristics.policies.marginal`."""
