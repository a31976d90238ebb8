"""Tests of granting."""
