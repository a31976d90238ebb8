"""Slurm: snapshots from topology.conf and the output of scontrol, squeue, sinfo and slurmrestd."""

from gsopt.snapshots.slurm.reader import read

__all__ = ["read"]
