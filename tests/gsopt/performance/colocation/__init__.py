"""Tests of the pair of a running and a new job."""
