"""Tests of the exact methods for configuration."""
