"""Tests of `gsopt.scenario`."""
