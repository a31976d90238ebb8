"""Tests of instances/scenarios."""
