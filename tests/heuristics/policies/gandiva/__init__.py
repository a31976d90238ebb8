"""Tests of `heuristics.policies.gandiva`."""
