"""Tests of the exact methods of scheduling over time."""
