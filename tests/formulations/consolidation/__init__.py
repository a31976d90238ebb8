"""Tests of the exact methods of consolidation."""
