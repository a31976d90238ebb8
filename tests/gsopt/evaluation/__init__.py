"""Tests of `gsopt.evaluation`."""
