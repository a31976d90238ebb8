"""Remaining work: how much work jobs have left, known or predicted, and its cost in GPU-seconds."""

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job
from gsopt.simulation.policy import State
from heuristics.policies.ones.dividing import Division, Floats, Forced, forced_jobs
from heuristics.policies.ones.progress import EpochReport, ProgressPredictor

#: Whether remaining work is known, or predicted from observations of the training.
Knowledge = Literal["predicted", "known"]


class Costs(NamedTuple):
    """The GPU-seconds until each job is complete: ``weight[j] * unit[j, c]`` for job j on c GPUs.

    Attributes
    ----------
    unit
        GPU-seconds per unit of work on 0, 1, ... GPUs: 0 on 0 GPUs, and infinite where a job may not run.
    weight
        Remaining work of each job, known or expected.
    forced
        Which jobs must run.
    draw
        A function that draws the remaining work of all jobs, or None if it is known.
    """

    unit: Floats
    weight: Floats
    forced: NDArray[np.bool_]
    draw: Callable[[np.random.Generator], Floats] | None


class RemainingWork:
    """The remaining work of jobs, known or predicted; `seed` is for the predictor's sample of observations."""

    def __init__(self, knowledge: Knowledge, forced: Forced, seed: int) -> None:
        self._knowledge, self._forced = knowledge, forced
        self._predictor = ProgressPredictor(seed=seed)
        self._logs: dict[int, list[EpochReport]] = {}

    def see(self, state: State, jobs: Iterable[int]) -> None:
        """Record an observation of each job at the end of an epoch."""
        if self._knowledge == "predicted":
            for job in jobs:
                self._logs.setdefault(job, []).append(_observation(state, job))

    def complete(self, state: State, jobs: Iterable[int]) -> None:
        """Learn from completed jobs."""
        for job in jobs:
            if log := self._logs.pop(job, None):
                self._predictor.complete(log, float(state.samples(job)))

    def costs(self, state: State, division: Division) -> Costs:
        """Return the costs of all jobs on every number of GPUs."""
        speeds = division.capped(ways.cap for ways in division.ways)
        weight, draw = division.left, None
        if self._knowledge == "predicted":
            forecast = self._predictor.predict([_observation(state, job) for job in division.numbers])
            weight, draw = forecast.left("mean_progress"), forecast.draw
            speeds = speeds * _densities(division, speeds.shape[1])
        must = forced_jobs(division, speeds, weight, self._forced)
        return Costs(_per_unit(speeds, division.gpus), weight, must, draw)


def _per_unit(rates: Floats, gpus: int) -> Floats:
    """Return the GPU-seconds per unit of work on every number of GPUs, infinite where a job may not run."""
    table = np.full((len(rates), gpus + 1), np.inf)
    counts = np.broadcast_to(np.arange(rates.shape[1]), rates.shape)
    may = rates > 0
    table[:, : rates.shape[1]][may] = counts[may] / rates[may]
    table[:, 0] = 0.0
    return table


def _densities(division: Division, width: int) -> Floats:
    """Return the samples per second of work of each job, in its mode on every number of GPUs."""
    table = np.zeros((len(division.jobs), width))
    for row, job, ways in zip(table, division.jobs, division.ways, strict=True):
        samples = [job.samples_in(mode) / job.duration for mode in ways.modes[:width]]
        row[: len(samples)] = samples
    return table


def _observation(state: State, number: int) -> EpochReport:
    job: Job = state.jobs[number]
    seen = state.observed(number)
    if job.training is None or seen is None:
        rule = "must be described if the remaining work is predicted"
        raise InvalidInput("training", f"of {job.name!r}: None", rule)
    return EpochReport(
        epoch_samples=float(job.training.epoch),
        initial_loss=job.training.initial_loss,
        processed=float(seen.samples),
        loss=seen.loss,
        accuracy=min(max(seen.accuracy, 0.0), 1.0),
    )
