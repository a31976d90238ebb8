"""Tests of the joint optimum of elastic jobs over time."""
