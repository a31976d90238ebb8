"""Tiers: the levels of the network as numbers, and the best tier that each job could ever get."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.simulation.policy import State


class Need(NamedTuple):
    """A job's demand: a number of GPUs, their type (empty for any), and bytes of memory on each (or None)."""

    gpus: int
    gpu_type: str
    memory: int | None


class Tiers:
    """The network tiers of a cluster as numbers, from 0 for the innermost tier outwards.

    The best tier of a job is the innermost one on which its demand fits into the empty cluster, given the GPU
    types and memory of the machines. It does not depend on which GPUs are currently free or available.
    """

    def __init__(self, state: State) -> None:
        self._cluster = state.cluster
        self.names = self._cluster.levels
        self._number = {str(name): tier for tier, name in enumerate(self.names)}
        self._room: dict[tuple[str, int | None], list[int]] = {}  # by tier, the most suitable GPUs in one group
        self._best: dict[Any, int] = {}

    def of(self, gpus: Sequence[int]) -> int:
        """Return the tier that connects the given GPUs, or 0 if they have no indices."""
        return self._number[self._cluster.tier(gpus)] if gpus else 0

    def best(self, job: Job) -> int:
        """Return the best tier that a job could get, or the outermost tier if the job never fits."""
        need = need_of(job)
        if need not in self._best:
            if need[1:] not in self._room:
                self._room[need[1:]] = [_most_in_a_group(self._cluster, job, name) for name in self.names]
            fitting = (tier for tier, room in enumerate(self._room[need[1:]]) if room >= job.gpus)
            self._best[need] = next(fitting, len(self.names) - 1)
        return self._best[need]

    def fastest(self, state: State, number: int) -> Any:
        """Return the speed that a job would have now on its best tier."""
        job = state.jobs[number]
        return state.rate(number, job.gpus, tier=self.names[self.best(job)])


def need_of(job: Job) -> Need:
    """Return the demand of a job. Jobs with equal demands are offered the same GPUs."""
    return Need(job.gpus, job.gpu_type, job.memory)


def _most_in_a_group(cluster: Cluster, job: Job, level: str) -> int:
    """Return the largest number of suitable GPUs in any group at the given level."""
    if cluster.is_plain:
        return cluster.gpus
    suitable = [
        job.gpu_type in {"", machine.gpu_type}
        and (machine.memory is None or machine.memory >= (job.memory or 0))
        for machine in cluster.machines
    ]
    groups = zip(cluster.group_of_gpu(level), cluster.machine_of, strict=True)
    return max(Counter(group for group, machine in groups if suitable[machine]).values(), default=0)
