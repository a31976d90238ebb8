"""Tests of `gsopt.core`."""
