"""FIFO: strict first in, first out, where a job that does not fit blocks all jobs behind it."""

from collections import deque
from collections.abc import Iterable
from heapq import merge

from gsopt.simulation import Action, Decider, State
from gsopt.simulation.parts.pool import Holding, pool_of


def fifo(state: State) -> Decider:
    """Start jobs in the order of their release. The first job that does not fit blocks all jobs behind it.

    Source: the head-of-line policy, a baseline in the evaluations of Castor (FIFO) and Tiresias. Key: release
    date. Ties: lower job number. Not preemptive. O(1) per start.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [Job(name=str(i), release_date=0, duration=1, gpus=gpus) for i, gpus in enumerate([1, 2, 1])]
    >>> simulate(Workload(jobs=jobs), fifo, cluster=2).completion_times
    (1.0, 2.0, 3.0)
    """
    return _Line(state)


class _Line:
    preemptive = False

    def __init__(self, state: State) -> None:
        self._jobs = state.jobs
        self._pool = pool_of(state)
        self._line: deque[int] = deque()

    def decide(self, state: State) -> Iterable[Action]:
        self._line.extend(state.arrived)
        if state.evicted:  # they were released before any that wait
            self._line = deque(merge(sorted(state.evicted), self._line))
        line, jobs, pool = self._line, self._jobs, self._pool
        taken: dict[int, Holding] = {}
        pool.look(state)
        while line and pool.room(item := jobs[line[0]]) >= item.gpus:
            taken[line.popleft()] = pool.take(item, item.gpus)
        return pool.actions(state, dict.fromkeys(taken), taken) if taken else ()
