"""Tests of `heuristics.policies.dally`."""
