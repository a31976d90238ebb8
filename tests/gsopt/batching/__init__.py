"""Tests of what batching rests on."""
