"""Tests of snapshots of clusters that run."""
