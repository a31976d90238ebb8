"""Tests of `gsopt.solvers`."""
