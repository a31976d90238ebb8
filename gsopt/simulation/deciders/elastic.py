"""Elastic: jobs in the order of a key, each on as many GPUs as it may use and are free."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush
from typing import Any

from gsopt.simulation.deciders.types import refuse_types
from gsopt.simulation.policy import Action, Resize, Start, State, Stop

#: A key and the number of its job, which decides ties.
Rank = tuple[Any, int]


class Counts(dict[int, tuple[int, ...]]):
    """The allowed counts of jobs, ascending, found when a job is first asked for.

    Examples
    --------
    >>> Counts(lambda job: (1, job))[4]
    (1, 4)
    """

    def __init__(self, counts_of: Callable[[int], tuple[int, ...]]) -> None:
        super().__init__()
        self._counts_of = counts_of

    def __missing__(self, job: int) -> tuple[int, ...]:
        counts = self[job] = self._counts_of(job)
        return counts


class Elastic:
    """Give the GPUs to those whom a scan of all jobs in key order would choose.

    The scan gives each job the largest of its allowed counts that is free, and skips a job whose smallest
    count is not. A job grows before the jobs behind it get anything.

    Most of the scan is left out. Jobs before the first change see the same free GPUs as at the last decision
    and keep what they hold; so do all jobs behind the last change from where on the same number is free as
    then. In between, waiting jobs stand in one heap for each smallest count: the next to get GPUs is the first
    of a heap whose count is free, or a running job. So a decision never looks through a queue.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    key
        Key of a job; that of a waiting job does not change.
    counts
        The allowed counts of every job.
    backfill
        Whether a job whose smallest count is not free is skipped; else it blocks all jobs behind it.
    moving
        Whether the keys of running jobs change with time; then every decision looks at all of them.

    Examples
    --------
    >>> from gsopt.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> menu = [(1, 1.0), (2, 2.0)]
    >>> jobs = [Job(name=name, release_date=0, duration=2, gpus=1, menu=menu) for name in "ab"]
    >>> def in_order(state):
    ...     return Elastic(state, lambda job: job, Counts(lambda job: state.jobs[job].counts))
    >>> simulate(Workload(jobs=jobs), in_order, cluster=3).completion_times
    (1.0, 1.5)
    """

    preemptive = True

    def __init__(
        self,
        state: State,
        key: Callable[[int], Any],
        counts: "Counts",
        *,
        backfill: bool = True,
        moving: bool = False,
    ) -> None:
        self._key, self._counts, self._backfill, self._moving = key, counts, backfill, moving
        self._capacity = state.capacity
        self._waiting: dict[int, list[Rank]] = {}  # heaps by smallest count, or a single one
        self._ranked: list[Rank] = []  # the running jobs in order
        self._held: list[int] = []  # their GPUs

    def decide(self, state: State) -> Iterable[Action]:
        """Give what leads to the choice of a scan: stops and shrinks, then growth and starts."""
        refuse_types(state)
        gone = {*state.completed, *state.evicted}
        come = [(self._key(job), job) for job in state.arrived + state.evicted]
        for rank in come:
            self._wait(rank)
        if self._moving:
            self._rerank(gone)
            return self._scan(state.capacity, set(), 0, None)
        if state.capacity != self._capacity:
            return self._scan(state.capacity, gone, 0, None)
        changed = come + [(self._key(job), job) for job in state.completed]
        if not changed:
            return ()
        return self._scan(state.capacity, gone, bisect_left(self._ranked, min(changed)), max(changed))

    def _scan(self, capacity: int, gone: set[int], first: int, last: Rank | None) -> list[Action]:
        """Scan from a position of the running jobs to where all behind it keep what they hold.

        That is never before the rank `last`, nor before the end when it is None. Jobs that have gone stand
        among the running ones for what they held.
        """
        ranked, held, counts = self._ranked, self._held, self._counts
        ahead = sum(held[:first])
        free, free_before = capacity - ahead, self._capacity - ahead
        self._capacity = capacity
        heads = self._heads(free)
        chosen: list[Rank] = []
        given: list[int] = []
        shrink: list[Action] = []
        grow: list[Action] = []
        stopped: list[Rank] = []
        position = first
        while heads or position < len(ranked):
            if heads and (position == len(ranked) or heads[0] < ranked[position]):
                rank, had = self._pop(heads, free), 0
            else:
                rank, had = ranked[position], held[position]
                if free == free_before and last is not None and rank > last:
                    break
                position += 1
                free_before -= had
                if rank[1] in gone:
                    continue
            count = largest(counts[rank[1]], free)
            if count != had:
                (grow if count > had else shrink).append(_action(rank[1], had, count))
            if count:
                chosen.append(rank)
                given.append(count)
                free -= count
            else:
                stopped += [rank] if had else []
                free = free if self._backfill else 0  # for all behind
        ranked[first:position], held[first:position] = chosen, given
        for rank in stopped:
            self._wait(rank)
        return shrink + grow

    def _wait(self, rank: Rank) -> None:
        heappush(self._waiting.setdefault(self._queue(rank[1]), []), rank)

    def _queue(self, job: int) -> int:
        return self._counts[job][0] if self._backfill else 0

    def _heads(self, free: int) -> list[Rank]:
        """Give the heap of the first waiting jobs that may be next."""
        heads = [heap[0] for queue, heap in self._waiting.items() if heap and queue <= free]
        heapify(heads)
        return heads

    def _pop(self, heads: list[Rank], free: int) -> Rank:
        """Take the next waiting job, out of its queue if it can start."""
        rank = heappop(heads)
        if self._counts[rank[1]][0] <= free:
            waiting = self._waiting[self._queue(rank[1])]
            heappop(waiting)
            if waiting:
                heappush(heads, waiting[0])
        return rank

    def _rerank(self, gone: set[int]) -> None:
        """Look at the keys of all running jobs again."""
        pairs = zip(self._ranked, self._held, strict=True)
        fresh = sorted(((self._key(job), job), held) for (_, job), held in pairs if job not in gone)
        self._ranked = [rank for rank, _ in fresh]
        self._held = [held for _, held in fresh]


def _action(job: int, had: int, count: int) -> Action:
    if not had:
        return Start(job, count)
    return Resize(job, count) if count else Stop(job)


def largest(counts: tuple[int, ...], free: int) -> int:
    """Give the largest of ascending counts that is free; 0 if none is.

    Examples
    --------
    >>> [largest((2, 4, 8), free) for free in (1, 7, 9)]
    [0, 4, 8]
    """
    return counts[bisect_right(counts, free) - 1] if counts[0] <= free else 0
