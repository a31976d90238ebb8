"""Tests of the instances of configuration."""
