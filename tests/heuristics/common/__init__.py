"""Tests of what heuristics of several decisions share."""
