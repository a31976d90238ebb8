"""Fitness: Pollux's fitness as a function of the number of flexible workers of each job."""

from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np
from numpy.typing import NDArray

from heuristics.policies.aryl.scheduler import FlexibleJob, Pool, SchedulerView
from heuristics.policies.aryl.schedulers.growing import Pools

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Fitness:
    """The fitness of any choice of flexible workers, and the limits on such choices.

    The fitness is the power mean of the speedups. A job's speedup is its speed relative to its speed on a fair
    share of the GPUs. Maximizing the fitness means maximizing a sum with one term per job:
    ``speedup ** power``, negated if `power` is negative, or the logarithm of the speedup if `power` is 0.

    Attributes
    ----------
    jobs
        The jobs.
    power
        The exponent of the power mean.
    most
        Largest number of flexible workers of each job, shape (jobs,).
    limits
        Limits on GPUs for flexible workers. Each is a pair: a mask of jobs, and the GPUs that their flexible
        workers may use in total. There is one for each pool to which some jobs are confined, and a last one for
        all jobs.
    """

    jobs: tuple[FlexibleJob, ...]
    power: float
    most: Counts
    limits: tuple[tuple[NDArray[np.bool_], int], ...]

    @classmethod
    def of(cls, snapshot: SchedulerView, *, power: float, doubling: bool = False) -> "Fitness":
        """Build the fitness function for the jobs of a view.

        With `doubling`, no job gets more than twice its current number of workers.
        """
        pools, jobs = Pools(snapshot), snapshot.elastic
        most = [
            min(job.most - job.base, job.base + 2 * job.extra) if doubling else job.most - job.base
            for job in jobs
        ]
        names: tuple[Pool, ...] = ("training", "inference")
        confined = [(np.array([job.pool == pool for job in jobs]), pools.left(pool)) for pool in names]
        limits = [each for each in confined if each[0].any()]
        limits.append((np.ones(len(jobs), dtype=np.bool_), pools.left("mixed")))
        return cls(jobs, power, np.array(most, dtype=np.int64), tuple(limits))

    @cached_property
    def worker_gpus(self) -> Counts:
        """GPUs per worker of each job, shape (jobs,)."""
        return np.array([job.worker_gpus for job in self.jobs], dtype=np.int64)

    @cached_property
    def allowed(self) -> Counts:
        """The largest allowed number of flexible workers up to w, by job and w, shape (jobs, max(most) + 1)."""
        numbers = np.arange(int(self.most.max(initial=0)) + 1)
        table = np.zeros((len(self.jobs), numbers.size), dtype=np.int64)
        for row, job, most in zip(table, self.jobs, self.most.tolist(), strict=True):
            usable = np.array([0, *(extra for extra in job.extras if extra <= most)])
            row[:] = usable[np.searchsorted(usable, numbers, side="right") - 1]
        return table

    @cached_property
    def fair(self) -> Counts:
        """Number of flexible workers of each job on a fair share of the GPUs, shape (jobs,).

        A fair share is the number of GPUs that elastic jobs hold or that are idle, divided by the number of
        elastic jobs and rounded up. The result is the largest allowed number with which the job fits into it,
        base workers included, or 0 if there is none.
        """
        gpus = self.limits[-1][1] + sum(job.base * job.worker_gpus for job in self.jobs)
        each = -(-gpus // max(len(self.jobs), 1))
        shares = [
            max(
                extra
                for extra in (0, *job.extras)
                if extra == 0 or (job.base + extra) * job.worker_gpus <= each
            )
            for job in self.jobs
        ]
        return np.array(shares, dtype=np.int64)

    @cached_property
    def worth(self) -> Floats:
        """Each job's term in the sum, by its number of flexible workers, shape (jobs, max(most) + 1)."""
        table = np.zeros(self.allowed.shape)
        for row, job, allowed, fair in zip(table, self.jobs, self.allowed, self.fair.tolist(), strict=True):
            speedups = np.array(job.speeds)[allowed] / job.speeds[fair]
            row[:] = np.log(speedups) if self.power == 0 else np.copysign(speedups**self.power, self.power)
        return table

    def of_rows(self, rows: Counts) -> Floats:
        """Return the sum of the jobs' terms for each row, shape (rows,). A larger sum is better.

        A row states the number of flexible workers of each job.
        """
        worth: Floats = self.worth[np.arange(len(self.jobs)), rows].sum(axis=1)
        return worth

    def mean(self, row: Counts) -> float:
        """Return the power mean of the speedups if the jobs have the given numbers of flexible workers."""
        each = float(self.of_rows(row[None])[0]) / len(self.jobs)
        if self.power == 0:
            return float(np.exp(each))
        return float(np.exp(log(abs(each)) / self.power))
