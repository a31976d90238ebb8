"""Tiresias: discretised two-dimensional least attained service."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from math import inf, nextafter
from typing import Any

from gsopt.errors import InvalidInput, shorten
from gsopt.simulation import Action, Decider, Start, State, Stop, Wake
from gsopt.simulation.deciders.greedy import Greedy


def tiresias(
    state: State, *, thresholds: Sequence[float] = (3250.0, 7200.0), promote: float | None = None
) -> Decider:
    """Run the jobs of the highest queue; a job falls by one queue when its service reaches a threshold.

    Source: Tiresias (NSDI 2019), section 3.2 (Discretized 2D-LAS, no knowledge of durations). The default
    thresholds are those of the authors' public simulator.

    Key: queue, then release date. Ties: lower number.
    Preemptive at arrivals, completions and the exact times at which a job reaches a threshold. A job that
    does not fit is skipped.

    Departures: within a queue jobs are ordered by release date instead of first start, which waiting jobs of
    the highest queue do not have.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    thresholds
        GPU-seconds, rising, at which a job leaves the first queue, the second, and so on.
    promote
        A job that has waited this many times as long as it had run returns to the highest queue and counts
        its service from 0 again; never when None.

    Raises
    ------
    InvalidInput
        A threshold or `promote` is not a positive, finite number, or the thresholds do not rise.

    Examples
    --------
    >>> from gsopt.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> jobs = [Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in [("a", 0, 4), ("b", 1, 1)]]
    >>> simulate(Workload(jobs=jobs), tiresias, cluster=1, thresholds=[2]).completion_times
    (5.0, 3.0)
    """
    if not all(map(_is_positive, thresholds)) or any(a >= b for a, b in pairwise(thresholds)):
        raise InvalidInput("", "thresholds", shorten(thresholds), "must be positive GPU-seconds that rise")
    if promote is not None and not _is_positive(promote):
        raise InvalidInput("", "promote", shorten(promote), "must be a positive number")
    return _Queues(state, thresholds, promote)


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float | Fraction) and 0 < value < inf


class _Queues:
    preemptive = True

    def __init__(self, state: State, thresholds: Sequence[float], promote: float | None) -> None:
        number = type(state.now)
        self._thresholds = [number(threshold) for threshold in thresholds]
        self._promote = None if promote is None else number(promote)
        self._queue = [0] * len(state.jobs)
        self._counts_from = [number(0)] * len(state.jobs)  # service when last promoted
        self._greedy = Greedy(state, key=self._queue.__getitem__)
        self._changes: list[tuple[Any, int]] = []  # when jobs fall or are promoted
        self._change: dict[int, Any] = {}  # the next change of each job; any other in the heap is void

    def decide(self, state: State) -> Iterable[Action]:
        for job in state.completed:
            self._change.pop(job, None)
        for job in state.evicted:
            self._queue[job] += self._change.get(job, state.now + 1) <= state.now  # at the threshold just then
            self._plan_promotion(state, job)
        self._greedy.update(state)
        self._change_queues(state)
        for action in self._greedy.repair(state):
            yield action
            if isinstance(action, Start):
                self._plan_fall(state, action.job)
            elif isinstance(action, Stop):
                self._plan_promotion(state, action.job)
        if self._changes:
            yield Wake(self._changes[0][0])

    def _change_queues(self, state: State) -> None:
        while self._changes and not self._is_later(state, *self._changes[0]):
            time, job = heappop(self._changes)
            if self._change.get(job) != time:
                continue
            del self._change[job]
            if job in state.running:
                self._queue[job] += 1
                self._plan_fall(state, job)
            else:
                self._queue[job] = 0
                self._counts_from[job] = state.service(job)
            self._greedy.rekey(job)

    def _is_later(self, state: State, time: Any, job: int) -> bool:
        return bool(time > state.now) and self._change.get(job) == time

    def _plan_fall(self, state: State, job: int) -> None:
        """Plan when a running job reaches the threshold of its queue."""
        self._change.pop(job, None)
        if self._queue[job] < len(self._thresholds):
            service = state.service(job) - self._counts_from[job]
            missing = self._thresholds[self._queue[job]] - service
            self._plan(state, job, missing / state.running[job])

    def _plan_promotion(self, state: State, job: int) -> None:
        """Plan when a job that has just been stopped has waited too long."""
        self._change.pop(job, None)
        if self._promote is not None and self._queue[job] > 0:
            had_run = (state.service(job) - self._counts_from[job]) / state.jobs[job].gpus
            self._plan(state, job, self._promote * had_run)

    def _plan(self, state: State, job: int, seconds: Any) -> None:
        time = state.now + seconds
        if time <= state.now:  # only by rounding
            time = nextafter(state.now, inf)
        self._change[job] = time
        heappush(self._changes, (time, job))
