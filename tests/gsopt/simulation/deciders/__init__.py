"""Tests of the deciders."""
