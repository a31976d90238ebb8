"""Limits: ONES' batch limits, updated by the rules of `LimitRules`."""

from collections.abc import Iterable
from typing import Any, Literal

from gsopt.performance.batching import LimitRules, scaled_down
from gsopt.scenario.job import Job
from gsopt.simulation.parts.ways import largest_batch, local_limit

#: The lower bound on limits that are halved after rejections: one sample, or the batch that one GPU can hold.
Floor = Literal["sample", "gpu"]

#: How jobs that run long are scaled down: the limit itself shrinks at every epoch (``compound``), or it keeps
#: doubling but only a shrinking part of it is used (``current``), or neither (``never``).
Penalty = Literal["compound", "current", "never"]


class BatchLimits:
    """The batch limit of each job, under the options of `ones`. Jobs without batch sizes have no limit."""

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
        """Return the batch limit of a job, or None if any batch size is allowed."""
        return self._used.get(job)

    @property
    def rate(self) -> float:
        """The arrival rate sigma in 1/s: as given, or the mean rate since the first arrival (at first 0)."""
        if self._given is not None:
            return self._given
        span = float(self._last - self._first) if self._arrivals > 1 else 0.0
        return (self._arrivals - 1) / span if span else 0.0

    def arrive(self, jobs: dict[int, Job], now: Any) -> None:
        """Set the limits of new jobs to the largest batch that one GPU can hold.

        If no batch of a job runs on one GPU, its limit is its largest batch.
        """
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
        """Apply the rules for the end of an epoch, once for each of the completed epochs."""
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
        """Halve the limits of jobs that keep waiting under a new schedule, as far as the floor allows."""
        rules = LimitRules()
        for job in jobs:
            if job in self._limit:
                for limits in (self._limit, self._used):
                    limits[job] = max(rules.rejected(limits[job]), min(limits[job], self._least[job]))
