"""Tests of loaning."""
