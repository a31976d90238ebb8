"""Tests of the instances of goodput."""
