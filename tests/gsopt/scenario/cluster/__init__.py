"""Tests of clusters: their data, their levels, and the graphs to and from which they go."""
