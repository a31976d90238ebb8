"""Epochs: how many epochs jobs have completed, and when the next epoch ends."""

from collections.abc import Iterable
from math import inf, nextafter
from typing import Any

from gsopt.core.numbers.tolerances import SPAN_ERROR
from gsopt.simulation.policy import State


class Epochs:
    """A counter of completed epochs, for jobs whose training is described."""

    def __init__(self) -> None:
        self._whole: dict[int, int] = {}

    def whole(self, job: int) -> int:
        """Return the number of epochs that a job had completed at the last call to `passed`."""
        return self._whole.get(job, 0)

    def forget(self, jobs: Iterable[int]) -> None:
        """Forget completed jobs."""
        for job in jobs:
            self._whole.pop(job, None)

    def passed(self, state: State, jobs: Iterable[int]) -> dict[int, int]:
        """Return how many epochs each job has completed since the last call, omitting jobs without any."""
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
        """Return the earliest time at which a running job completes an epoch, or None if none has epochs.

        The overhead of the current decision is not known yet, so the time may be too early. A second call at
        that time then returns the correct one.
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
