"""Tests of the instances of consolidation."""
