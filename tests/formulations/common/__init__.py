"""Tests of `formulations.common`."""
