"""Goodput search: the genetic search of Pollux, over numbers of workers."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, Literal, get_args

import numpy as np

from gsopt.core.errors import InvalidInput, require_one_of, shorten
from heuristics.policies.aryl.epoch import Elastic, Epoch, Scheduler
from heuristics.policies.aryl.schedulers.evolving import SearchEffort, evolve
from heuristics.policies.aryl.schedulers.fitness import Fitness
from heuristics.policies.aryl.schedulers.growing import grow
from heuristics.policies.aryl.schedulers.starting import Order, in_order, require_order

#: The genetic search, or worker by worker to the job by which the fitness gains most per GPU.
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
    """Search the flexible workers whose speedups have the best power mean, every so many seconds.

    The speedup of a job is its speed relative to that on a fair share of the GPUs of elastic jobs; a power of
    -1 makes it the harmonic mean. Between two searches jobs keep what they have.

    Source: Pollux (OSDI 2021), section 4.2, as Aryl, section 7.1, compares itself with it: "applies genetic
    algorithms to find the resource allocation". Key of starts: `order`; of workers: the fitness. Ties: the
    candidate that was found first. Never preempts. Does not know durations where `order` is ``release``.
    O(G P J) per search of G generations of P candidates of J jobs.

    It is not Pollux, but its search in the place of the second phase of Aryl. Missing are:

    - batch sizes and learning rates, which Pollux adapts to the GPUs a job has: without them the goodput is the
      throughput, which is what the job's menu says;
    - the waiting jobs: they start in their order on base workers, not when the search gives them GPUs, and who
      runs keeps its base workers;
    - the machines: candidates are numbers of workers, which are placed afterwards; and with them the factor by
      which jobs that restart count less, as jobs here are resized while they run;
    - the second objective, utilisation, of which only the ranking during the search is affected.

    The most workers that a job ever had limit it in Pollux to twice as many; here those that it has now do.
    With ``search="greedy"`` there is no search: the fitness is a sum over jobs, so that for workers of one size
    and speeds that rise by less and less this gives the best that a search can find.

    Aryl finds the preset 100 generations too few for a large cluster, and takes 250. So it is: on 100, 300 and
    500 linear jobs with workers of 1 to 8 GPUs, 100 generations reach 98, 87 and 81 % of the fitness of the
    greedy, 250 reach 99, 97 and 92 %. A generation takes 0.7 to 2.4 ms, all of the greedy 8 to 14.

    A scheduler remembers when it searched last: use a new one for each run.

    Parameters
    ----------
    search
        How flexible workers are found.
    population
        Candidates; from 2 to 10,000.
    generations
        Generations of a search at most; from 1 to 10,000.
    patience
        Generations without a better candidate after which a search ends; from 1 to 10,000.
    interval
        Seconds between two searches; at least 0. Pollux searches every minute.
    power
        Power of the mean; from -10 to 10.
    doubling
        Whether no job gets more than twice the workers that it has.
    order
        In which order waiting jobs start.
    blocks
        Whether a job that does not fit blocks those behind it.
    seed
        Seed of all random draws.

    Raises
    ------
    InvalidInput
        An option is out of its range.

    Examples
    --------
    >>> a = Elastic(0, 90.0, worker_gpus=1, base=1, most=4, extra=1, pool="training", speeds=(1, 2, 3, 4))
    >>> b = Elastic(1, 60.0, worker_gpus=1, base=2, most=5, extra=0, pool="training", speeds=(2, 3, 4, 5))
    >>> epoch = Epoch(0.0, (), (a, b), {"training": 2}, pending=False)
    >>> goodput_search().extras(epoch), goodput_search(search="greedy").extras(epoch)
    ({0: 2, 1: 1}, {0: 2, 1: 1})
    """
    require_one_of("search", search, get_args(How))
    least = {"population": 2, "generations": 1, "patience": 1}
    for name, value in (("population", population), ("generations", generations), ("patience", patience)):
        if not (isinstance(value, int) and least[name] <= value <= _MOST):
            rule = f"must be a whole number from {least[name]} to {_MOST:,}"
            raise InvalidInput("", name, shorten(value), rule)
    if not (isinstance(interval, int | float) and 0 <= interval < inf):
        raise InvalidInput("", "interval", shorten(interval), "must be a number of seconds, at least 0")
    if not (isinstance(power, int | float) and -_LARGEST_POWER <= power <= _LARGEST_POWER):
        rule = f"must be a number from -{_LARGEST_POWER} to {_LARGEST_POWER}"
        raise InvalidInput("", "power", shorten(power), rule)
    require_order(order)
    how = None if search == "greedy" else SearchEffort(population, generations, patience)
    return _GoodputSearch(how, interval, power, order, doubling=doubling, blocks=blocks, seed=seed)


class _GoodputSearch:
    """Searches when it is due, and keeps what jobs have until then."""

    def __init__(
        self,
        search: SearchEffort | None,
        interval: float,
        power: float,
        order: Order,
        *,
        doubling: bool,
        blocks: bool,
        seed: int,
    ) -> None:
        self.blocks = blocks
        self._search, self._interval, self._power, self._order = search, interval, power, order
        self._doubling = doubling
        self._random = np.random.default_rng(seed)
        self._due: Any = None  # when the next search is; None before the first

    def order(self, epoch: Epoch) -> Sequence[int]:
        return [job.job for job in in_order(epoch, self._order)]

    def extras(self, epoch: Epoch) -> Mapping[int, int]:
        if not epoch.elastic or (self._due is not None and epoch.now < self._due):
            return {job.job: job.extra for job in epoch.elastic}
        self._due = epoch.now + type(epoch.now)(self._interval)
        fitness = Fitness.of(epoch, power=self._power, doubling=self._doubling)
        if self._search is None:
            return _greedy(epoch, fitness)
        start = np.array([job.extra for job in epoch.elastic])
        found = evolve(fitness, start, self._search, self._random)
        return {job.job: extra for job, extra in zip(epoch.elastic, found.tolist(), strict=True)}


def _greedy(epoch: Epoch, fitness: Fitness) -> dict[int, int]:
    rows = {
        job.job: (row, most) for job, row, most in zip(epoch.elastic, fitness.worth, fitness.most, strict=True)
    }

    def loss(job: Elastic, before: int, after: int) -> float | None:
        worth, most = rows[job.job]
        if after > most or worth[after] <= worth[before]:
            return None
        return -float(worth[after] - worth[before]) / ((after - before) * job.worker_gpus)

    return grow(epoch, loss)
