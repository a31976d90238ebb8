"""Slurm: snapshots from the output of scontrol, squeue, sinfo and slurmrestd, and topology.conf."""

from gsopt.snapshots.slurm.reader import read

__all__ = ["read"]
