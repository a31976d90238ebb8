"""Tests of the exact methods for admission."""
