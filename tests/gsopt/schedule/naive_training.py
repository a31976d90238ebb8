"""Naive training: what an adaptive job does at each moment, from the definitions and in fractions.

Nothing here comes from the library but the data: measurements, trainings, limits and settings.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil

from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application

#: Samples that a GPU processes at once, and accumulations before the step.
Division = tuple[int, int]


def between(points: Sequence[tuple[int, Fraction]], place: int) -> Fraction | None:
    """Return the value at a place on the line through its two neighbours; None outside of them."""
    for at, value in points:
        if at == place:
            return value
    for (low, least), (high, most) in pairwise(points):
        if low < place < high:
            return least + (most - least) * Fraction(place - low, high - low)
    return None


class Training:
    """The training of a job with its user's batch, on shapes that were measured."""

    def __init__(self, application: Application, agents: Agents, users_batch: int) -> None:
        self.application, self.agents, self.users_batch = application, agents, users_batch
        self.initial = application.limits.initial_batch
        self.rates: dict[tuple[tuple[int, ...], Division, int], Fraction | None] = {}

    def goal(self, epochs: int) -> Fraction:
        """Return the progress after some epochs."""
        if not epochs:
            return Fraction(0)
        ends = [(each.batch, each.epochs[epochs - 1]) for each in self.application.validations]
        if self.agents.progress == "statistical":
            return min(Fraction(end.progress) for _, end in ends)
        iterations = between([(batch, Fraction(end.iterations)) for batch, end in ends], self.users_batch)
        assert iterations is not None
        return iterations * self.users_batch

    def divide(self, batch: int | None, shape: tuple[int, ...]) -> Division:
        """Divide a batch, or the first one of a job that tunes it, over the GPUs of a shape."""
        limits, gpus = self.application.limits, sum(shape)
        size = batch or max(limits.initial_batch, limits.least_local * gpus)
        each = ceil(Fraction(size, gpus))
        passes = ceil(Fraction(each, self.most_local(shape)))
        if gpus == 1 and size > limits.initial_batch:
            passes = max(passes, 2)
        return min(ceil(Fraction(each, passes)), limits.most_batch // (gpus * passes)), passes - 1

    def most_local(self, shape: tuple[int, ...]) -> int:
        """Return the samples that fit on a GPU at once."""
        points = self._points(shape)
        if self.agents.memory == "model" or points is None:
            return self.application.limits.most_local
        return points[-1][0]

    def rate(self, shape: tuple[int, ...], division: Division, epoch: int) -> Fraction | None:
        """Return the progress per second in an epoch; None where no step was measured."""
        key = (shape, division, epoch)
        if key not in self.rates:
            self.rates[key] = self._rate(*key)
        return self.rates[key]

    def _rate(self, shape: tuple[int, ...], division: Division, epoch: int) -> Fraction | None:
        (local, steps), points = division, self._points(shape)
        if points is None:
            return None
        step = between([(at, Fraction(step)) for at, step, _ in points], local)
        sync = between([(at, Fraction(sync)) for at, _, sync in points], local)
        if step is None or sync is None:
            return None
        samples = Fraction(sum(shape) * local * (steps + 1))
        seconds = ((steps + 1) * step - steps * sync) * Fraction(self.application.slowdown)
        gradient = self._gradient(int(samples), epoch)
        if gradient is None:
            return None
        if self.agents.progress == "samples":
            return samples / seconds
        sqr, var = gradient
        return (var + sqr) / (var * self.initial / samples + sqr) / seconds

    def _gradient(self, samples: int, epoch: int) -> tuple[Fraction, Fraction] | None:
        rows = [(each.batch, each.epochs[epoch]) for each in self.application.validations]
        sqr = between([(batch, Fraction(row.sqr)) for batch, row in rows], samples)
        var = between([(batch, Fraction(row.var)) for batch, row in rows], samples)
        return None if sqr is None or var is None else (sqr, var)

    def _points(self, shape: tuple[int, ...]) -> Sequence[tuple[int, float, float]] | None:
        """Return the measurements of a ring of nodes, wherever it begins."""
        for each in self.application.placements:
            ring = tuple(each.shape)
            if any(ring[place:] + ring[:place] == shape for place in range(len(ring))):
                return each.points
        return None
