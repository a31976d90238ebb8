"""Slurm: snapshots from what scontrol, squeue, sinfo and slurmrestd print, and topology.conf."""

from gsopt.snapshots.slurm.reader import read

__all__ = ["read"]
