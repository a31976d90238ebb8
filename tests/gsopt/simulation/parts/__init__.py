"""Tests of `gsopt.simulation.parts`."""
