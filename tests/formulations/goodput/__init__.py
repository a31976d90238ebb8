"""Tests of the exact methods of goodput."""
