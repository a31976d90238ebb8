"""Tests of sequencing."""
