"""Hypothesis strategies and shared examples, one file per decision."""
