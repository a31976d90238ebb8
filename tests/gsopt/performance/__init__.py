"""Tests of `gsopt.performance`."""
