"""Tests of the policies replayed as heuristics of scheduling."""
