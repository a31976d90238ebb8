"""Tests of colocation."""
