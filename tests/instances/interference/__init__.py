"""Tests of readers of measured pairs."""
