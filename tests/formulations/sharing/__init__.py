"""Tests of the exact models of waiting over time."""
