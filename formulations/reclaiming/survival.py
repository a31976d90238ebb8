"""Survival: the losses that a job survives without being preempted."""

from collections.abc import Mapping
from typing import NamedTuple

from gsopt.problems.reclaiming import Job


class Survival(NamedTuple):
    """The condition for a job to survive: no critical server is returned, and few enough GPUs are lost."""

    # GPUs of the job on each server whose loss alone preempts it
    critical: Mapping[str, int]
    others: Mapping[str, int]  # GPUs of the job on each other server
    spare: int  # GPUs that the job can do without

    @property
    def decided_by_critical(self) -> bool:
        """Whether the job survives the joint loss of all its servers that are not critical."""
        return sum(self.others.values()) <= self.spare


def survival(job: Job, elasticity: str) -> Survival:
    """Return the losses that a job survives.

    A job survives the loss of its flexible workers. If workers are fungible, it survives the loss of any GPUs,
    up to the number that its flexible workers use.
    """
    if not job.flexible:
        return Survival(job.workers, {}, 0)
    placed = {server: job.gpus_on(server) for server in {**job.workers, **job.flexible}}
    spare = sum(job.flexible.values())
    if elasticity == "tagged":
        critical = {server for server in placed if server in job.workers}
    else:
        critical = {server for server, gpus in placed.items() if gpus > spare}
    return Survival(
        {server: gpus for server, gpus in placed.items() if server in critical},
        {server: gpus for server, gpus in placed.items() if server not in critical},
        spare,
    )
