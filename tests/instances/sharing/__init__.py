"""Tests of the instances of waiting over time."""
