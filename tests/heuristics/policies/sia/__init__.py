"""Tests of the decider of configurations."""
