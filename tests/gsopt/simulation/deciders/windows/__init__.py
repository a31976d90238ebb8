"""Tests of windows."""
