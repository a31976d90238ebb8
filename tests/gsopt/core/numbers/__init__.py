"""Tests of `gsopt.core.numbers`."""
