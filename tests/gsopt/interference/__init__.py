"""Tests of measured interference."""
