"""Tiers: what levels of the network there are, and the best that a job could ever have."""

from collections.abc import Sequence
from typing import Any

from gsopt.cluster import Cluster, Tier
from gsopt.job import Job
from gsopt.simulation.placer import FreeGpus, consolidated
from gsopt.simulation.policy import State


class Tiers:
    """The network tiers of a cluster as numbers, from 0 for the innermost level outwards.

    The best tier of a job is that of its demand on the empty cluster, with all machines there that suit its
    type and memory: what is free or away at the moment does not count.

    Parameters
    ----------
    state
        The state of a run.

    Attributes
    ----------
    names
        Names of the levels from the innermost out.

    Examples
    --------
    >>> from gsopt.job import Workload
    >>> from gsopt.simulation import simulate
    >>> from heuristics.policies import fifo
    >>> def watched(state):
    ...     tiers = Tiers(state)
    ...     print(tiers.names, tiers.of([0, 8]), tiers.best(Job(name="b", release_date=0, duration=1, gpus=5)))
    ...     return fifo(state)
    >>> cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    >>> jobs = [Job(name="a", release_date=0, duration=1, gpus=1)]
    >>> simulate(Workload(jobs=jobs), watched, cluster=cluster).completion_times
    ('machine', 'rack', 'network') 2 1
    (1.0,)
    """

    def __init__(self, state: State) -> None:
        self._cluster = state.cluster
        self.names = tuple(tier.value for tier in Tier)
        self._number = {name: level for level, name in enumerate(self.names)}
        self._state = state
        self._best: dict[Any, tuple[tuple[int, ...], int]] = {}  # GPUs on the empty cluster, and their tier

    def of(self, gpus: Sequence[int]) -> int:
        """Give the tier that joins GPUs; 0 where they have no numbers."""
        return self._number[self._state.tier(gpus)] if gpus else 0

    def best(self, job: Job) -> int:
        """Give the best tier that a job could have; the outermost when it cannot have its GPUs at all."""
        return self._on_empty(job)[1]

    def fastest(self, state: State, number: int) -> Any:
        """Give the speed that a job of the run would have now on the best tier."""
        gpus, _ = self._on_empty(state.jobs[number])
        return state.rate(number, gpus or state.jobs[number].gpus)

    def _on_empty(self, job: Job) -> tuple[tuple[int, ...], int]:
        need = need_of(job)
        if need not in self._best:
            gpus = _on_empty(self._cluster, job)
            self._best[need] = (gpus, self.of(gpus) if gpus or self._cluster.is_plain else len(self.names) - 1)
        return self._best[need]


def need_of(job: Job) -> tuple[int, str, int | None]:
    """Give what tells apart the jobs that are offered different GPUs: number, type, memory."""
    return job.gpus, job.gpu_type, job.memory


def _on_empty(cluster: Cluster, job: Job) -> tuple[int, ...]:
    """Give the GPUs that a job would get on the empty cluster; none when there are too few, or no numbers."""
    free = [list(gpus) for gpus in cluster.gpus_of.values()]
    suitable = [
        number
        for number, machine in enumerate(cluster.machines)
        if job.gpu_type in {"", machine.gpu_type}
        and (machine.memory is None or machine.memory >= (job.memory or 0))
    ]
    room = FreeGpus(cluster, suitable, free)
    return consolidated(room, job.gpus) if job.gpus <= room.count else ()
