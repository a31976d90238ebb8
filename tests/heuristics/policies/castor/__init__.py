"""Tests of `heuristics.policies.castor`."""
