"""Tests of a study as a page."""
