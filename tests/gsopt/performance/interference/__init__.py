"""Tests of measured and predicted interference."""
