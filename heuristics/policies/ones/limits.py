"""Limits: the batch limits of ONES, by the rules of `LimitRules`."""

from collections.abc import Iterable
from typing import Any, Literal

from gsopt.performance.batching import LimitRules, scaled_down
from gsopt.scenario.job import Job
from gsopt.simulation.parts.ways import largest_batch, local_limit

#: Down to what rejections halve limits: one sample, or what one GPU holds.
Floor = Literal["sample", "gpu"]

#: How jobs that run long are scaled down: the limit itself shrinks at every epoch, or the used part of a limit
#: that keeps doubling, or neither.
Penalty = Literal["compound", "current", "never"]


class BatchLimits:
    """The largest batch size of each job, by the options of `ones`. Jobs without batch sizes have none."""

    def __init__(
        self, penalty: Penalty = "current", rate: float | None = None, floor: Floor = "sample"
    ) -> None:
        self._penalty, self._given, self._floor = penalty, rate, floor
        self._limit: dict[int, int] = {}
        self._used: dict[int, int] = {}
        self._largest: dict[int, int] = {}
        self._least: dict[int, int] = {}
        self._arrivals = 0
        self._first: Any = None
        self._last: Any = None

    def of(self, job: int) -> int | None:
        """Return the limit of a job, or None if any batch is allowed."""
        return self._used.get(job)

    @property
    def rate(self) -> float:
        """The arrival rate sigma, as given or that of the arrivals so far, or 0 before the second one."""
        if self._given is not None:
            return self._given
        span = float(self._last - self._first) if self._arrivals > 1 else 0.0
        return (self._arrivals - 1) / span if span else 0.0

    def arrive(self, jobs: dict[int, Job], now: Any) -> None:
        """Set the limits of new jobs to the batch that one GPU can hold."""
        if jobs and self._first is None:
            self._first = now
        self._arrivals += len(jobs)
        self._last = now
        for number, job in jobs.items():
            largest = largest_batch(job)
            if largest is not None:
                self._largest[number] = largest
                rules = LimitRules(largest=largest)
                first = rules.started(local_limit(job) or largest)
                self._limit[number] = self._used[number] = first
                self._least[number] = first if self._floor == "gpu" else 1

    def forget(self, jobs: Iterable[int]) -> None:
        """Forget completed jobs."""
        for job in jobs:
            for limits in (self._limit, self._used, self._largest, self._least):
                limits.pop(job, None)

    def finish_epochs(self, job: int, epochs: int, elapsed: float) -> None:
        """Apply the rules for the end of an epoch, once for each epoch."""
        if job not in self._limit:
            return
        rate = self.rate if self._penalty == "compound" else 0.0
        rules = LimitRules(rate=rate, largest=self._largest[job])
        for _ in range(epochs):
            self._limit[job] = rules.after_epoch(self._limit[job], elapsed)
        self._used[job] = self._limit[job]
        if self._penalty == "current":
            self._used[job] = min(self._limit[job], scaled_down(self._limit[job], self.rate, elapsed))

    def reject(self, jobs: Iterable[int]) -> None:
        """Halve the limits of jobs that wait under a new schedule."""
        rules = LimitRules()
        for job in jobs:
            if job in self._limit:
                for limits in (self._limit, self._used):
                    limits[job] = max(rules.rejected(limits[job]), min(limits[job], self._least[job]))
