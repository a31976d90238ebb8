"""Epochs: how often running jobs have passed over their data sets, and when the next of them is through."""

from collections.abc import Iterable
from math import inf, nextafter
from typing import Any

from gsopt.core.numbers.tolerances import SPAN_ERROR
from gsopt.simulation.policy import State


class Epochs:
    """Counts the whole epochs of jobs; jobs whose training is not described have none."""

    def __init__(self) -> None:
        self._whole: dict[int, int] = {}

    def whole(self, job: int) -> int:
        """Return the whole epochs of a job, as far as they have been counted."""
        return self._whole.get(job, 0)

    def forget(self, jobs: Iterable[int]) -> None:
        """Forget jobs that have gone."""
        for job in jobs:
            self._whole.pop(job, None)

    def passed(self, state: State, jobs: Iterable[int]) -> dict[int, int]:
        """Return the epochs that each of some jobs has passed since it was asked for last, if any."""
        found = {}
        for job in jobs:
            training = state.jobs[job].training
            if training is None:
                continue
            whole = int(state.samples(job) / training.epoch * (1 + SPAN_ERROR))
            if whole > self.whole(job):
                found[job] = whole - self.whole(job)
                self._whole[job] = whole
        return found

    def next_end(self, state: State) -> Any:
        """Return when the first of the running jobs is through with its epoch; None where none has epochs.

        The overhead of what is just decided is not known yet: then that is too early, and asking again then
        gives the time.
        """
        number = type(state.now)
        times = []
        for job, count in state.running.items():
            item = state.jobs[job]
            if item.training is not None:
                mode = state.mode(job)
                gpus = state.placement(job) or count
                density = number(item.samples_in(mode)) / number(item.duration)
                missing = (self.whole(job) + 1) * item.training.epoch - state.samples(job)
                times.append(state.ready(job) + missing / (state.rate(job, gpus, mode) * density))
        if not times:
            return None
        first = min(times)
        return first if first > state.now else nextafter(state.now, inf)
