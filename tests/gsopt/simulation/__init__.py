"""Tests of gsopt.simulation."""
