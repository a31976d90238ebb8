"""Tests of `heuristics.policies.gavel`."""
