"""Tests of the evolutionary search."""
