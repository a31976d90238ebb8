"""Sensitivity: the keys by which Dally sorts jobs, based on how much the network has slowed each job."""

from typing import Any

from gsopt.simulation.parts.tiers import Tiers
from gsopt.simulation.parts.ties import settled
from gsopt.simulation.policy import State


def network_sensitivity(state: State, job: int) -> Any:
    """Return Dally's Nw_sens of a job: its mean speed so far while holding GPUs, or 0 before it has run.

    Source: Dally, section IV-B1, where the expected number of iterations cancels out.
    """
    return settled(_sensitivity(state, job))


def relative_sensitivity(tiers: Tiers, state: State, job: int) -> Any:
    """Return Dally's Nw_sens of a job, divided by the speed of the job on its best tier."""
    return settled(_sensitivity(state, job) / tiers.fastest(state, job))


def _sensitivity(state: State, job: int) -> Any:
    item, service = state.jobs[job], state.service(job)
    work = type(state.now)(item.duration) - state.remaining(job)
    return work * item.gpus / service if service else 0
