"""Skipping: list scheduling, which starts waiting jobs in order of a key and skips those that do not fit."""

from collections.abc import Callable, Iterable
from typing import Any

from gsopt.simulation.parts.pool import Holding, pool_of
from gsopt.simulation.parts.waiting import WaitingQueue
from gsopt.simulation.policy import Action, State


class Skipping:
    """A decider that starts waiting jobs in ascending order of keys and skips those that do not fit.

    This is list scheduling. Ties between keys go to the lower job number. No job is ever stopped. Unlike
    backfilling, list scheduling reserves nothing for skipped jobs.

    Parameters
    ----------
    state
        The state at the start of the run.
    key
        Function of a job that returns its key. It is called when the job begins to wait.

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> def widest_first(state):
    ...     return Skipping(state, lambda job: -state.jobs[job].gpus)
    >>> jobs = [Job(name=str(gpus), release_date=0, duration=1, gpus=gpus) for gpus in (1, 2, 4)]
    >>> simulate(Workload(jobs=jobs), widest_first, cluster=4).completion_times
    (2.0, 2.0, 1.0)
    """

    preemptive = False

    def __init__(self, state: State, key: Callable[[int], Any]) -> None:
        self._jobs, self._key = state.jobs, key
        self._pool = pool_of(state)
        self._waiting = WaitingQueue()
        self._free: Any = None  # after the last decision

    def decide(self, state: State) -> Iterable[Action]:
        """Return the actions that start jobs until no other job fits."""
        jobs, pool, waiting = self._jobs, self._pool, self._waiting
        queues = []
        for job in state.arrived + state.evicted:
            queues.append(pool.queue(jobs[job], jobs[job].gpus))
            waiting.add(job, self._key(job), queues[-1])
        if not waiting:
            return ()
        pool.look(state)
        if pool.free == self._free and not any(map(pool.fits, queues)):
            return ()  # no job fits that did not fit before
        taken: dict[int, Holding] = {}
        while waiting and not pool.is_empty and (first := waiting.first(pool.fits)) is not None:
            job = first[1]
            waiting.remove(job)
            taken[job] = pool.take(jobs[job], jobs[job].gpus)
        self._free = pool.free
        return pool.actions(state, dict.fromkeys(taken), taken) if taken else ()
