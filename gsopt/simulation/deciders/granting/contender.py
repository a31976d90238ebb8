"""Contender: a job as it asks for GPUs, with the time that it has left on every number of them."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gsopt.job import Job
from gsopt.simulation.policy import State


@dataclass(frozen=True)
class Contender:
    """A job that asks for GPUs.

    Attributes
    ----------
    number
        Its number.
    item
        What it is.
    counts
        Numbers of GPUs on which it may run, ascending.
    left
        Seconds that it has left on each of them.

    Examples
    --------
    >>> job = Job(name="a", release_date=0, duration=60, gpus=1, menu=[(1, 1.0), (2, 1.5)])
    >>> Contender(0, job, counts=(1, 2), left=(60.0, 40.0)).left[1]
    40.0
    """

    number: int
    item: Job
    counts: tuple[int, ...]
    left: tuple[Any, ...]


class Contenders:
    """Makes contenders of jobs, with true times left, on the best tier that each number of GPUs can have.

    Numbers beyond the GPUs that are there are left out, and jobs that have no others too. Speeds are asked for
    once for each job; where it has phases, they change for all numbers of GPUs alike.

    Examples
    --------
    >>> from gsopt.job import Workload
    >>> from gsopt.simulation import simulate
    >>> from heuristics.policies import fifo
    >>> def watched(state):
    ...     decider = fifo(state)
    ...     class Watching:
    ...         preemptive = False
    ...         def decide(self, state):
    ...             print([each.left for each in Contenders().of(state, state.arrived)])
    ...             return decider.decide(state)
    ...     return Watching()
    >>> job = Job(name="a", release_date=0, duration=60, gpus=1, menu=[(1, 1.0), (2, 1.5), (4, 2.0)])
    >>> simulate(Workload(jobs=[job]), watched, cluster=2).completion_times
    [(60.0, 40.0)]
    []
    (60.0,)
    """

    def __init__(self) -> None:
        self._counts: dict[int, tuple[int, ...]] = {}
        self._rates: dict[int, tuple[Any, ...]] = {}  # of each job on its counts, when it was first seen

    def forget(self, job: int) -> None:
        """Forget a job that is complete."""
        self._counts.pop(job, None)
        self._rates.pop(job, None)

    def of(self, state: State, jobs: Iterable[int]) -> list[Contender]:
        """Give some jobs as contenders."""
        made = (self._contender(state, number) for number in jobs)
        return [each for each in made if each.counts]

    def _contender(self, state: State, number: int) -> Contender:
        item = state.jobs[number]
        if number not in self._rates:
            self._look(state, number, item)
        counts, rates = self._counts[number], self._rates[number]
        there = bisect_right(counts, state.capacity)
        if not there:
            return Contender(number, item, (), ())
        zero = type(state.now)(0)
        left = max(state.remaining(number), zero)
        if item.phases:
            left = left * rates[0] / _rate(state, number, counts[0])
        return Contender(number, item, counts[:there], tuple(left / rate for rate in rates[:there]))

    def _look(self, state: State, number: int, item: Job) -> None:
        counts = tuple(count for count in item.counts if count <= state.cluster.gpus)
        self._counts[number] = counts
        self._rates[number] = tuple(_rate(state, number, count) for count in counts)


def _rate(state: State, job: int, count: int) -> Any:
    """Give the speed of a job now on the best tier of so many GPUs."""
    return state.rate(job, count, tier=state.cluster.best_tier(count))
