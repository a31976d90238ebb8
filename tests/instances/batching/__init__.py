"""Tests of the instances of batching."""
