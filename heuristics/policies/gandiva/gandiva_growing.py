"""Gandiva growing: a baseline whose elastic jobs grow while GPUs are free and no job waits."""

from collections.abc import Iterable

from gsopt.simulation import Action, Decider, State
from gsopt.simulation.parts.pool import Holding, pool_of
from gsopt.simulation.parts.waiting import WaitingQueue


def gandiva_growing(state: State, *, blocks: bool = True) -> Decider:
    """Start jobs on the GPUs that they demand, in order of release, and let them grow while no job waits.

    In the order in which they started, jobs get the largest allowed number of GPUs for which enough are free.
    As soon as a job waits, every job returns to its demand.

    Source: Gandiva (OSDI 2018) as described in Aryl, section 7.1: jobs scale out when there are available
    resources but no pending jobs. Key: release date. Ties: lower job number. Not preemptive; resizes. Knows
    neither durations nor scaling, so a job grows even if that does not make it faster. O(jobs) per event.

    Readings: neither paper says which job grows first. A job that does not fit blocks the jobs behind it; with
    ``blocks=False``, it is skipped. Gandiva's other techniques are separate policies: `gandiva` migrates jobs,
    and `gandiva_packing` and `gandiva_rotation` share GPUs. Within Aryl's framework of loaned machines, the
    policy is `heuristics.policies.aryl.schedulers.gandiva`.

    Parameters
    ----------
    blocks
        Whether a job that does not fit blocks the jobs behind it.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> menu = [(1, 1.0), (2, 2.0), (4, 4.0)]
    >>> jobs = [Job(name=n, release_date=r, duration=8, gpus=1, menu=menu) for n, r in [("a", 0), ("b", 1)]]
    >>> simulate(Workload(jobs=jobs), gandiva_growing, cluster=4).completion_times
    (3.0, 4.0)
    """
    return _Growing(state, blocks)


class _Growing:
    preemptive = False

    def __init__(self, state: State, blocks: bool) -> None:
        self._jobs, self._blocks = state.jobs, blocks
        self._pool = pool_of(state)
        self._waiting = WaitingQueue()
        self._demanded: dict[int, Holding] = {}  # of the running jobs, by start
        self._held: dict[int, Holding] = {}

    def decide(self, state: State) -> Iterable[Action]:
        for job in state.completed + state.evicted:
            self._demanded.pop(job, None)
            self._held.pop(job, None)
        for job in state.arrived + state.evicted:
            self._waiting.add(job, job, self._pool.queue(self._jobs[job], self._jobs[job].gpus))
        self._pool.look(state)
        before: dict[int, Holding | None] = dict(self._held)
        for holding in self._held.values():
            self._pool.give_back(holding)
        for job, holding in self._demanded.items():
            self._demanded[job] = self._pool.take(self._jobs[job], self._jobs[job].gpus, holding)
        self._admit()
        held = dict(self._demanded)
        if not self._waiting:
            self._grow(held)
        before |= {job: None for job in held if job not in before}
        self._held = held
        return self._pool.actions(state, before, dict(held))

    def _admit(self) -> None:
        """Start waiting jobs that fit, in order of release."""
        while first := self._waiting.first(self._pool.fits if not self._blocks else lambda _queue: True):
            job = first[1]
            if self._pool.room(self._jobs[job]) < self._jobs[job].gpus:
                return
            self._waiting.remove(job)
            self._demanded[job] = self._pool.take(self._jobs[job], self._jobs[job].gpus)

    def _grow(self, held: dict[int, Holding]) -> None:
        """Grant each job, in order of start, the largest allowed number of GPUs for which enough are free."""
        for job, demanded in held.items():
            item = self._jobs[job]
            room = item.gpus + self._pool.room(item)
            most = max(count for count in item.counts if count <= room)
            if most > item.gpus:
                self._pool.give_back(demanded)
                held[job] = self._pool.take(item, most, self._held.get(job, demanded))
