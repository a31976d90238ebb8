"""Outlook of ONES: what jobs have left, known or predicted from those that are complete, as a cost table."""

from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gsopt.batching.progress import Observation, Predictor
from gsopt.errors import InvalidInput
from gsopt.job import Job
from gsopt.simulation import State
from gsopt.simulation.deciders.dividing import Division, Floats
from gsopt.simulation.deciders.ways import local_limit
from heuristics.batching.evolution.table import CostTable

#: Whether the work that is left is known, or predicted by what is seen of training.
Knowledge = Literal["predicted", "known"]

#: Who must run: jobs that have never run, as printed, or all.
Forced = Literal["new", "all"]


class Outlook:
    """Makes the cost table of an event.

    Parameters
    ----------
    knowledge
        Whether what is left is known. Predicted samples are drawn for every generation (Algorithm 1).
    forced
        Who must run, as long as there is room: of new jobs those that came first, of all those with the least
        time left on their fewest GPUs.
    seed
        Of the rows that the predictor keeps.
    """

    def __init__(self, knowledge: Knowledge, forced: Forced, seed: int) -> None:
        self._knowledge, self._forced = knowledge, forced
        self._predictor = Predictor(seed=seed)
        self._logs: dict[int, list[Observation]] = {}

    def see(self, state: State, jobs: Iterable[int]) -> None:
        """Note what is seen of jobs at the end of an epoch."""
        if self._knowledge == "predicted":
            for job in jobs:
                self._logs.setdefault(job, []).append(_observation(state, job))

    def complete(self, state: State, jobs: Iterable[int]) -> None:
        """Learn from jobs that are complete."""
        for job in jobs:
            if log := self._logs.pop(job, None):
                self._predictor.complete(log, float(state.samples(job)))

    def table(self, state: State, division: Division, limits: Mapping[int, int], ran: Floats) -> CostTable:
        """Give what each job costs on every number of GPUs: its GPU-seconds until it is complete.

        Parameters
        ----------
        state, division
            The event.
        limits
            Largest batches by job; those without have no batch sizes.
        ran
            Seconds for which each job has run.
        """
        rates = division.capped(ways.cap for ways in division.ways)
        weight, draw = division.left, None
        if self._knowledge == "predicted":
            forecast = self._predictor.predict([_observation(state, job) for job in division.numbers])
            weight, draw = forecast.left("mean_progress"), forecast.draw
            rates = rates * _densities(division, rates.shape[1])
        return CostTable.of(
            [str(job) for job in division.numbers],
            _per_unit(rates, division.gpus),
            weight=weight,
            forced=self._must(division, rates, weight),
            processed_seconds=ran,
            batch_limit=[limits.get(job, division.gpus) for job in division.numbers],
            local_limit=[local_limit(job) or 1 for job in division.jobs],
            draw=draw,
        )

    def _must(self, division: Division, rates: Floats, weight: Floats) -> NDArray[np.bool_]:
        """Tell which jobs must run: as many of those that are forced as have room on their fewest GPUs."""
        fewest = (rates > 0).argmax(axis=1)
        places = [place for place in range(len(rates)) if fewest[place]]
        if self._forced == "all":
            places.sort(key=lambda place: weight[place] / rates[place, fewest[place]])
        else:
            places = [place for place in places if not division.started[place]]
        must = np.zeros(len(rates), dtype=np.bool_)
        left = division.gpus
        for place in places:
            if fewest[place] <= left:
                must[place] = True
                left -= int(fewest[place])
        return must


def _per_unit(rates: Floats, gpus: int) -> Floats:
    """Give the GPU-seconds of a unit of work on every number of GPUs; infinite where a job may not run."""
    table = np.full((len(rates), gpus + 1), np.inf)
    counts = np.broadcast_to(np.arange(rates.shape[1]), rates.shape)
    may = rates > 0
    table[:, : rates.shape[1]][may] = counts[may] / rates[may]
    table[:, 0] = 0.0
    return table


def _densities(division: Division, width: int) -> Floats:
    """Give the samples of a second of work in the mode of every number of GPUs."""
    table = np.zeros((len(division.jobs), width))
    for row, job, ways in zip(table, division.jobs, division.ways, strict=True):
        samples = [job.samples_in(mode) / job.duration for mode in ways.modes[:width]]
        row[: len(samples)] = samples
    return table


def _observation(state: State, number: int) -> Observation:
    job: Job = state.jobs[number]
    seen = state.observed(number)
    if job.training is None or seen is None:
        rule = "must be described where what is left is predicted"
        raise InvalidInput("", "training", f"of {job.name!r}: None", rule)
    return Observation(
        epoch_samples=float(job.training.epoch),
        initial_loss=job.training.initial_loss,
        processed=float(seen.samples),
        loss=seen.loss,
        accuracy=min(max(seen.accuracy, 0.0), 1.0),
    )
