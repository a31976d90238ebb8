"""Muri: groups of jobs that share GPUs, each job using a different resource at any one time."""

from heuristics.policies.muri.policy import muri

__all__ = ["muri"]
