"""Course: the true progress of an application's training on any set of GPUs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np

from gsopt.core.errors import InvalidInput, shorten
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.batch import Batch, split, within
from gsopt.scenario.adaptive.gradient import Gradient
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.steps import Times

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Course:
    """The true dynamics of a training run: its work, and its speed on any GPUs with any batch size."""

    application: Application
    agents: Agents
    # If progress counts samples: the batch size whose training determines the work; None for the initial batch
    # size.
    users_batch: int | None

    def on(self, gpu_type: str) -> "Course":
        """Return the course on one GPU type; the work is the same on all types."""
        return self._by_type.get(gpu_type, self)

    @cached_property
    def _by_type(self) -> Mapping[str, "Course"]:
        return {
            name: replace(self, application=self.application.on(name)) for name in self.application.gpu_types
        }

    def limits(self, shape: tuple[int, ...]) -> Limits:
        """Return the batch size limits of a job on a shape, which depend on `Agents.memory`."""
        limits = self.application.limits
        if self.agents.memory == "model":
            return limits
        return limits.model_copy(update={"most_local": self.application.most_local(shape) or limits.most_local})

    def work_at(self, epoch: int) -> float:
        """Return the progress after the given number of epochs."""
        if self.agents.progress == "statistical":
            return self.application.progress_at(epoch)
        batch = self.users_batch or self.application.limits.initial_batch
        return self.application.iterations(batch, epoch - 1) * batch if epoch else 0.0

    @cached_property
    def work(self) -> float:
        """The work of the whole training run, in units of progress."""
        return self.work_at(self.application.epochs)

    def times(self, shape: tuple[int, ...], batch: Batch) -> tuple[float, float]:
        """Return the durations of a step and of the gradient exchange in it, in seconds.

        Raise `InvalidInput` if the shape or the local batch size is beyond the measurements.
        """
        times = self.application.step_time(shape, batch.local)
        if times is None:
            rule = f"must be placements of {self.application.name} measured with {batch.local} samples per GPU"
            raise InvalidInput("shape", shorten(list(shape)), rule)
        return times

    def speed(self, shape: tuple[int, ...], batch: Batch, epoch: int) -> float:
        """Return the progress per second in the given epoch (counted from 0)."""
        seconds, samples = self._iteration(self.times(shape, batch), batch), batch.over(sum(shape))
        return self._gain(samples, self.application.gradient(samples, epoch)) / seconds

    def iteration_rate(self, shape: tuple[int, ...], batch_size: int) -> float:
        """Return the number of iterations per second at the given batch size; see `times` for errors."""
        batch = split(batch_size, sum(shape), self.limits(shape))
        return 1 / self._iteration(self.times(shape, batch), batch)

    def iterations(self, batch_size: int, progress: float) -> float:
        """Return the number of iterations needed for the given progress at the given batch size.

        Within an epoch, iterations are proportional to progress.
        """
        ends = [self.work_at(epoch) for epoch in range(self.application.epochs + 1)]
        counts = [0.0, *(self.application.iterations(batch_size, epoch) for epoch in range(len(ends) - 1))]
        return float(np.interp(progress, ends, counts))

    def seconds(self, gpus: int, batch_size: int) -> float | None:
        """Return the duration of a training run on the best placement of `gpus` GPUs, in seconds.

        The result is None if the job cannot run on this number of GPUs with the given batch size. Epochs are
        not rounded to whole seconds.
        """
        epochs = list(pairwise(self.work_at(epoch) for epoch in range(self.application.epochs + 1)))
        best = inf
        for shape in self.application.shapes(gpus):
            for batch, times in self._possible(shape, [split(batch_size, gpus, self.limits(shape))]):
                gains = self._gains([batch.over(gpus)])[0].tolist()
                iterations = sum((end - begin) / gain for (begin, end), gain in zip(epochs, gains, strict=True))
                best = min(best, iterations * self._iteration(times, batch))
        return None if best == inf else best

    def highest_rate(self, gpus: int, batch_size: int | None, *, largest: int | None = None) -> float:
        """Return the highest speed in any epoch, on any placement of the given number of GPUs.

        The speed is the fraction of the job's work that is done per second. The parameters are those of
        `highest_speeds`.
        """
        return float(self.highest_speeds(gpus, batch_size, largest=largest).max()) / self.work

    def highest_speeds(self, gpus: int, batch_size: int | None, *, largest: int | None = None) -> Array:
        """Return the highest progress per second in each epoch, on any placement of the given number of GPUs.

        The speed is 0 if the job cannot run. If `batch_size` is None, the job may choose its batch size.
        `largest` is as in `Application.shapes`.
        """
        return self._fastest(gpus, self.application.shapes(gpus, largest), batch_size)

    def highest_speeds_on(self, shape: tuple[int, ...], batch_size: int | None) -> Array:
        """Return the highest progress per second in each epoch on one placement; see `highest_speeds`."""
        return self._fastest(sum(shape), [shape], batch_size)

    def _fastest(self, gpus: int, shapes: Sequence[tuple[int, ...]], batch_size: int | None) -> Array:
        seconds: dict[int, float] = {}  # of the fastest iteration over a number of samples
        choices = cache(lambda limits: _choices(gpus, limits, batch_size))
        for shape in shapes:
            for batch, times in self._possible(shape, choices(self.limits(shape))):
                samples = batch.over(gpus)
                seconds[samples] = min(seconds.get(samples, inf), self._iteration(times, batch))
        if not seconds:
            return np.zeros(self.application.epochs)
        found: Array = (self._gains(list(seconds)) / np.array(list(seconds.values()))[:, None]).max(axis=0)
        return found

    def _possible(self, shape: tuple[int, ...], batches: list[Batch]) -> Iterator[tuple[Batch, Times]]:
        """Yield the batches that were measured on a shape and validated, each with its step times."""
        times = self.application.step_times(shape, [batch.local for batch in batches])
        for batch, time in zip(batches, times, strict=True):
            if time is not None and self.application.is_validated(batch.over(sum(shape))):
                yield batch, time

    def _iteration(self, times: Times, batch: Batch) -> float:
        """Return the duration of an iteration in seconds: its accumulations and its step."""
        step, sync = times
        return (step + batch.steps * (step - sync)) * self.application.slowdown

    def _gain(self, samples: int, gradient: Gradient) -> float:
        """Return the progress that an iteration over the given number of samples makes."""
        if self.agents.progress == "samples":
            return samples
        sqr, var = gradient
        return (var + sqr) / (var / (samples / self.application.limits.initial_batch) + sqr)

    def _gains(self, samples: Sequence[int]) -> Array:
        """Return the progress per iteration, by number of samples (rows) and epoch (columns)."""
        each = np.array(samples)[:, None]
        if self.agents.progress == "samples":
            return np.repeat(each.astype(float), self.application.epochs, axis=1)
        sqr, var = self.application.gradients(samples)
        found: Array = (var + sqr) / (var / (each / self.application.limits.initial_batch) + sqr)
        return found


def _choices(gpus: int, limits: Limits, batch_size: int | None) -> list[Batch]:
    """Return the batches that a job may use on `gpus` GPUs: of the given size, or of any size if it is None."""
    if batch_size is not None:
        return [split(batch_size, gpus, limits)]
    from gsopt.scenario.adaptive.throughput import batches

    local, steps = batches(gpus, limits)
    tried = (within(Batch(*pair), gpus, limits) for pair in zip(local.tolist(), steps.tolist(), strict=True))
    first = split(max(limits.initial_batch, limits.least_local * gpus), gpus, limits)
    return list(dict.fromkeys([first, *tried]))
