"""Tests of snapshots of Slurm."""
