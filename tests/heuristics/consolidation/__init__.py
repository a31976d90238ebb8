"""Tests of the heuristics of consolidation."""
