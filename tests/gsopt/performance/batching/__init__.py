"""Tests of `gsopt.performance.batching`."""
