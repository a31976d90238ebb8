"""Tests of the heuristics of goodput."""
