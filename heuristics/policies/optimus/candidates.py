"""Candidates: jobs that ask for GPUs, with their remaining time on every number of GPUs."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from gsopt.scenario.cluster import Tier
from gsopt.scenario.job import Job
from gsopt.simulation.policy import State
from gsopt.simulation.shapes import Shapes
from heuristics.policies.optimus.adaptive import iterations_left, seconds_per_iteration
from heuristics.policies.optimus.convergence import Convergence


@dataclass(frozen=True)
class GpuCandidate:
    """A job that asks for GPUs, with its remaining time on each GPU count on which it may run."""

    number: int
    item: Job
    counts: tuple[int, ...]  # numbers of GPUs on which it may run, ascending
    left: tuple[Any, ...]  # seconds that it has left on each of them


class _Speeds(NamedTuple):
    """The numbers of GPUs on which a job may run, and its speed on each when it was first seen."""

    counts: tuple[int, ...]
    rates: tuple[Any, ...]


class Candidates:
    """A maker of candidates, whose remaining times assume GPUs that are as close together as possible.

    Numbers of GPUs that exceed the available ones are omitted, and so are jobs for which no number is left. The
    remaining time of an adaptive job is the time for its iterations with its user's batch size, from the end of
    the current epoch (`heuristics.policies.optimus.adaptive`). Numbers of GPUs on which its local batches would
    be smaller than allowed are also omitted, except for its smallest number. If `doubled`, an adaptive job on a
    single GPU is always expected to divide its batch.

    `convergence` predicts the remaining work of jobs from their losses. If it is None or the training of a job
    is not described, the true remaining work is used. A job whose work cannot be predicted yet asks only for
    its fewest GPUs.
    """

    def __init__(self, state: State, *, doubled: bool = True, convergence: Convergence | None = None) -> None:
        self._doubled, self._convergence = doubled, convergence
        self._shapes = Shapes(state.cluster)
        self._speeds: dict[int, _Speeds] = {}

    def forget(self, job: int) -> None:
        """Forget a completed job."""
        self._speeds.pop(job, None)
        if self._convergence is not None:
            self._convergence.forget(job)

    def of(self, state: State, jobs: Iterable[int]) -> list[GpuCandidate]:
        """Return a candidate for each of the given jobs that can run on the available GPUs."""
        made = (self._candidate(state, number) for number in jobs)
        return [each for each in made if each.counts]

    def _candidate(self, state: State, number: int) -> GpuCandidate:
        if number not in self._speeds:
            self._speeds[number] = self._look(state, number)
        speeds = self._speeds[number]
        there = bisect_right(speeds.counts, state.capacity)
        left = self._work(state, number, speeds) if there else 0
        if left is None:
            left, there = 0, 1
        times = tuple(left / rate for rate in speeds.rates[:there])
        return GpuCandidate(number, state.jobs[number], speeds.counts[:there], times)

    def _look(self, state: State, number: int) -> _Speeds:
        """Compute the speeds of a job on each of its numbers of GPUs."""
        item, trainee = state.jobs[number], state.trainee(number)
        counts = tuple(count for count in item.counts if count <= state.cluster.gpus)
        if trainee is None or item.batch_size is None:
            return _Speeds(counts, tuple(_rate(state, number, count) for count in counts))
        application = trainee.application
        most = item.batch_size // application.limits.least_local
        times = {
            count: seconds_per_iteration(
                application,
                item.batch_size,
                self._shapes.closest(count, Tier.MACHINE),
                doubled=self._doubled,
            )
            for count in counts
            if count <= max(most, counts[0])
        }
        known = {count: 1 / seconds for count, seconds in times.items() if seconds is not None}
        return _Speeds(tuple(known), tuple(known.values()))

    def _work(self, state: State, number: int, speeds: _Speeds) -> Any:
        """Return the remaining work, known or predicted, or None while it cannot be predicted."""
        if self._convergence is None or state.jobs[number].training is None:
            return _known(state, number, speeds)
        self._convergence.see(state, [number])
        return self._convergence.left(state, number)


def _known(state: State, number: int, speeds: _Speeds) -> Any:
    """Return the true remaining work of a job, in iterations if it is adaptive."""
    item, trainee = state.jobs[number], state.trainee(number)
    if trainee is not None and item.batch_size is not None:
        return iterations_left(trainee.application, item.batch_size, trainee.epoch)
    left = max(state.remaining(number), type(state.now)(0))
    if not item.phases:
        return left
    return left * speeds.rates[0] / _rate(state, number, speeds.counts[0])


def _rate(state: State, job: int, count: int) -> Any:
    """Return the current speed of a job on `count` GPUs of the best possible tier."""
    return state.rate(job, count, tier=state.cluster.best_tier(count))
