"""Tests of guarantees."""
