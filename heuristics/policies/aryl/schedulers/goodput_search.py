"""Goodput search: Pollux's genetic search, used to choose the number of workers of each job."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, Literal, get_args

import numpy as np

from gsopt.core.errors import number_of, require, require_one_of
from heuristics.policies.aryl.scheduler import FlexibleJob, Scheduler, SchedulerView
from heuristics.policies.aryl.schedulers.evolving import SearchEffort, evolve
from heuristics.policies.aryl.schedulers.fitness import Fitness
from heuristics.policies.aryl.schedulers.growing import grow
from heuristics.policies.aryl.schedulers.starting import Order, in_order

#: A genetic search, or one worker at a time for the job whose step raises the fitness most per GPU.
How = Literal["genetic", "greedy"]

_LARGEST_POWER, _MOST = 10, 10_000


def goodput_search(
    *,
    search: How = "genetic",
    population: int = 100,
    generations: int = 100,
    patience: int = 20,
    interval: float = 300.0,
    power: float = -1.0,
    doubling: bool = True,
    order: Order = "release",
    blocks: bool = True,
    seed: int = 0,
) -> Scheduler:
    """Search at intervals for the numbers of flexible workers that maximize the power mean of the speedups.

    A job's speedup is relative to its speed on the most workers that fit into a fair share of the GPUs, or on
    its base workers if these need more. A fair share is the number of GPUs that elastic jobs hold or that are
    idle, divided by the number of elastic jobs and rounded up. Between two searches, jobs keep their workers.

    Source: Pollux (OSDI 2021), section 4.2, as a baseline in Aryl, section 7.1. Key: `order` for starts, the
    power mean for workers. Ties: the candidate found first. Never preempts. Does not know durations if `order`
    is ``release``. O(G P J) per search with G generations of P candidates for J jobs.

    Departures from Pollux: batch sizes are not adapted, so goodput is throughput. All jobs keep their base
    workers. Workers are placed only after the search. Restarts have no penalty, and utilization is ignored.

    A scheduler remembers its last search, so use a new one for each run.

    Parameters
    ----------
    search
        A ``genetic`` search, or a ``greedy`` algorithm. The latter is optimal if `power` is at most 1, all
        workers have the same size, jobs may have any number of workers up to their maximum, and no further
        worker of a job adds more speed than the one before.
    population
        Number of candidates; from 2 to 10,000.
    generations
        Largest number of generations per search; from 1 to 10,000. Aryl uses 250 for a large cluster.
    patience
        Number of generations without a better candidate after which a search ends; from 1 to 10,000.
    interval
        Minimum time between two searches, in seconds; at least 0. Pollux searches every minute.
    power
        Exponent of the power mean; from -10 to 10. The default gives the harmonic mean.
    doubling
        Whether a search may at most double a job's current number of workers. In Pollux, the limit is twice the
        largest number of workers that the job has had.
    order
        Order in which waiting jobs start: by ``release`` date, by ``time`` on their base workers, or by
        ``area``, i.e. by this time multiplied by the GPUs of the base workers.
    blocks
        Whether a job that does not fit blocks the jobs behind it.
    seed
        Seed of all random numbers.

    Raises
    ------
    InvalidInput
        An option is out of range.

    Examples
    --------
    >>> a = FlexibleJob(0, 90.0, worker_gpus=1, base=1, most=4, extra=1, pool="training", speeds=(1, 2, 3, 4))
    >>> b = FlexibleJob(1, 60.0, worker_gpus=1, base=2, most=5, extra=0, pool="training", speeds=(2, 3, 4, 5))
    >>> snapshot = SchedulerView(0.0, (), (a, b), {"training": 2}, pending=False)
    >>> goodput_search().extras(snapshot), goodput_search(search="greedy").extras(snapshot)
    ({0: 2, 1: 1}, {0: 2, 1: 1})
    """
    require_one_of("search", search, get_args(How))
    for name, value, least in (
        ("population", population, 2),
        ("generations", generations, 1),
        ("patience", patience, 1),
    ):
        rule = f"must be a whole number from {least} to {_MOST:,}"
        require(isinstance(value, int) and least <= value <= _MOST, name, value, rule)
    require(0 <= number_of(interval) < inf, "interval", interval, "must be a number of seconds, at least 0")
    rule = f"must be a number from -{_LARGEST_POWER} to {_LARGEST_POWER}"
    require(-_LARGEST_POWER <= number_of(power) <= _LARGEST_POWER, "power", power, rule)
    require_one_of("order", order, get_args(Order))
    effort = None if search == "greedy" else SearchEffort(population, generations, patience)
    return _GoodputSearch(effort, interval, power, order, doubling=doubling, blocks=blocks, seed=seed)


class _GoodputSearch:
    """A scheduler that searches at intervals, and lets jobs keep their workers in between."""

    def __init__(
        self,
        effort: SearchEffort | None,
        interval: float,
        power: float,
        order: Order,
        *,
        doubling: bool,
        blocks: bool,
        seed: int,
    ) -> None:
        self.blocks = blocks
        self._effort, self._interval, self._power, self._order = effort, interval, power, order
        self._doubling = doubling
        self._random = np.random.default_rng(seed)
        self._due: Any = None  # the time of the next search; None before the first

    def order(self, snapshot: SchedulerView) -> Sequence[int]:
        return [job.job for job in in_order(snapshot, self._order)]

    def extras(self, snapshot: SchedulerView) -> Mapping[int, int]:
        if not snapshot.elastic or (self._due is not None and snapshot.now < self._due):
            return {job.job: job.extra for job in snapshot.elastic}
        self._due = snapshot.now + type(snapshot.now)(self._interval)
        fitness = Fitness.of(snapshot, power=self._power, doubling=self._doubling)
        if self._effort is None:
            return _greedy(snapshot, fitness)
        start = np.array([job.extra for job in snapshot.elastic])
        found = evolve(fitness, start, self._effort, self._random)
        return {job.job: extra for job, extra in zip(snapshot.elastic, found.tolist(), strict=True)}


def _greedy(snapshot: SchedulerView, fitness: Fitness) -> dict[int, int]:
    rows = {
        job.job: (row, most)
        for job, row, most in zip(snapshot.elastic, fitness.worth, fitness.most, strict=True)
    }

    def loss(job: FlexibleJob, before: int, after: int) -> float | None:
        worth, most = rows[job.job]
        if after > most or worth[after] <= worth[before]:
            return None
        return -float(worth[after] - worth[before]) / ((after - before) * job.worker_gpus)

    return grow(snapshot, loss)
