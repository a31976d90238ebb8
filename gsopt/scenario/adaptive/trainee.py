"""Trainee: an adaptive job that runs, measures and tunes itself."""

from collections.abc import Sequence
from math import inf, nextafter
from typing import Any

from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.batch import Batch, split, within
from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.adaptive.fitting import Measurement, fit
from gsopt.scenario.adaptive.gradient import Gradient
from gsopt.scenario.adaptive.throughput import BatchChoice, ThroughputModel


class Trainee:
    """The state of an adaptive job: its true progress, its measurements, and its batch.

    The state depends only on the calls of `place`, `slow` and `lose`, and on the clock. `advance` sets the
    clock; how often it is called makes no difference. Times are seconds since the beginning of the workload.

    **Progress.** After a restart the job works from `works_from` on, at constant speed until it next tunes its
    batch. It measures the step, and the gradients of the epoch, as soon as it works. At each multiple of the
    interval, and at the end of each epoch, it tunes its batch by its measurements so far. It is complete at the
    end of the last epoch.

    **Batch.** A batch size chosen by its user is kept. Otherwise the job takes the smallest allowed batch until
    its first measurement, and then the batch with the best expected goodput. Gradients are accumulated for a
    batch that does not fit at once and, on a single GPU, for a batch above the initial one.

    Source: Pollux (OSDI 2021), sections 3 and 4.1, and the authors' simulator. In the simulator, an epoch with
    less than half a second left at the end of an interval ends just after the interval. Here it ends just
    before.

    Parameters
    ----------
    application
        Measurements of its model.
    agents
        The settings by which it measures and tunes itself.
    batch_size
        Batch size over all GPUs chosen by its user; None if the job chooses it.
    now
        Time of its submission.

    Attributes
    ----------
    course
        The true course of its training.
    shape
        Number of its GPUs on each node; empty if it has none.
    batch_size
        Batch size over all GPUs that it was given; None if it chooses its batch.
    batch
        How its batch is divided; None if it has no GPUs.
    epoch
        Completed epochs.
    restarts
        Number of placements after the first one.
    gradient
        Last measured gradient statistics; None before it first worked.
    completed_at
        Time of its completion; None before.
    """

    def __init__(self, application: Application, agents: Agents, batch_size: int | None, now: float) -> None:
        self.application, self.agents, self.batch_size = application, agents, batch_size
        self.course = Course(application, agents, batch_size)
        self.shape: tuple[int, ...] = ()
        self.batch: Batch | None = None
        self.epoch = 0
        self.restarts = 0
        self.gradient: Gradient | None = None
        self.completed_at: float | None = None
        self._now = self._begun = float(now)
        self._next_change = inf
        self._done = self._speed = 0.0
        self._ends_epoch = False
        self._slowdown = 1.0
        self._was_placed = False
        self._measured: dict[tuple[int, int, int], Measurement] = {}
        self._chosen_with = self._knowledge()
        self._fitted: tuple[int, ThroughputModel] | None = None

    # What happens to the job

    def place(
        self,
        shape: Sequence[int],
        now: float,
        works_from: float,
        slowdown: float = 1.0,
        batch_size: int | None = None,
    ) -> None:
        """Restart the job on the given GPUs, or stop it, and refuse a shape on which it cannot run.

        An empty shape stops it. It works again from `works_from` on, `slowdown` times slower than with GPUs to
        itself. Without `batch_size` it chooses its batch. No call of any method may have had a later `now`.
        """
        self._record_progress(now)
        placed = tuple(gpus for gpus in shape if gpus)
        if not placed:
            self.shape, self.batch, self._next_change = (), None, inf
            return
        batch = self._choice(placed, batch_size)
        self._speed_of(placed, batch)  # refused before anything has changed
        self.shape, self.batch, self._chosen_with = placed, batch, self._knowledge()
        self.batch_size, self._slowdown = batch_size, slowdown
        self.restarts += self._was_placed
        self._was_placed = True
        self._work(max(now, works_from))

    def slow(self, slowdown: float, now: float) -> None:
        """Change the slowdown by sharing GPUs, from now on."""
        self._record_progress(now)
        self._slowdown = slowdown
        if self._next_change < inf:
            self._work(max(now, self._begun))

    def lose(self, share: float, now: float) -> None:
        """Take back a share of all work done so far (1 for all of it). The job keeps its measurements."""
        self._record_progress(now)
        self._done = max(self._done - share * self.course.work, 0.0)
        while self.course.work_at(self.epoch) > self._done:
            self.epoch -= 1
        if self._next_change < inf:
            self._work(max(now, self._begun))

    def advance(self, now: float) -> None:
        """Run until a time, which must not be before that of the last call of any method."""
        while self._next_change <= now:
            self._tune()
        self._now = now
        if self._next_change < inf and now > self._begun:
            self._measure()

    def next_change(self) -> float:
        """Return the next time at which the job completes or tunes its batch, or infinity without GPUs."""
        return self._next_change

    # The truth about it

    @property
    def share(self) -> float:
        """The completed share of its work."""
        return self._progress(self._now) / self.course.work

    def rate(self, shape: Sequence[int], batch: int | None = None) -> float:
        """Return the true current speed with GPUs to itself, as a share of the work per second.

        `batch` is the batch size over all GPUs; if None, the one that the job would choose.
        """
        placed = tuple(gpus for gpus in shape if gpus)
        as_it_runs = (placed, batch) == (self.shape, self.batch_size)
        chosen = (self.batch if as_it_runs else None) or self._choice(placed, batch)
        return self._speed_of(placed, chosen) / self.course.work

    # What schedulers see

    @property
    def model(self) -> ThroughputModel | None:
        """The throughput model fitted to all measurements, or None before the job first works."""
        count = len(self._measured)
        if count and (self._fitted is None or self._fitted[0] < count):
            self._fitted = (count, fit(list(self._measured.values()), tolerance=self.agents.tolerance))
        return self._fitted[1] if self._fitted else None

    @property
    def most_gpus(self) -> int:
        """Largest number of GPUs on which it has worked, or 0 before it first works."""
        return max((each.gpus for each in self._measured.values()), default=0)

    def goodput(self, nodes: Any, gpus: Any) -> BatchChoice | None:
        """Return the expected goodput on numbers of nodes and GPUs, or None before the job first works."""
        model = self.model
        if model is None or self.gradient is None:
            return None
        return model.goodput(nodes, gpus, self.gradient, self.application.limits)

    # Running

    def _record_progress(self, now: float) -> None:
        """Record the progress until now, before something changes."""
        self.advance(now)
        if self._next_change < inf:
            self._done, self._begun = self._progress(now), max(now, self._begun)

    def _progress(self, now: float) -> float:
        if self._next_change == inf or now <= self._begun:
            return self._done
        return min(self._done + self._speed * (now - self._begun), self.course.work_at(self.epoch + 1))

    def _work(self, begin: float) -> None:
        """Work at constant speed from a time on, until the end of the epoch or of the interval."""
        assert self.batch is not None  # noqa: S101 - whoever works has a batch
        self._begun = begin
        self._speed = self._speed_of(self.shape, self.batch) / self._slowdown
        seconds = (self.course.work_at(self.epoch + 1) - self._done) / self._speed
        if self.agents.whole_seconds:
            end = begin + max(round(seconds), 1)
        else:
            end = max(begin + seconds, nextafter(begin, inf))
        interval = self.agents.interval
        boundary = (begin // interval + 1) * interval
        self._ends_epoch, self._next_change = end <= boundary, float(min(end, boundary))

    def _tune(self) -> None:
        """End a period of constant speed: the epoch may end, and the batch is chosen again."""
        self._measure()
        now = self._next_change
        if self._ends_epoch:
            self.epoch += 1
            self._done = self.course.work_at(self.epoch)
        else:
            self._done = self._progress(now)
        if self.epoch == self.application.epochs:
            self.completed_at, self._next_change = now, inf
            return
        if self._knowledge() != self._chosen_with:
            self._choose()
        self._work(now)

    def _choose(self) -> None:
        """Choose the batch by current knowledge, but keep the old one if the new one was not measured."""
        self._chosen_with = self._knowledge()
        batch = self._choice(self.shape, self.batch_size)
        if self.application.step_time(self.shape, batch.local) is not None:
            self.batch = batch

    def _measure(self) -> None:
        """Record the times of a step and the gradient statistics."""
        assert self.batch is not None  # noqa: S101 - whoever works has a batch
        nodes, gpus, local = len(self.shape), sum(self.shape), self.batch.local
        self.gradient = self.application.gradient(self.batch.over(gpus), self.epoch)
        if (nodes, gpus, local) not in self._measured:
            times = self.course.times(self.shape, self.batch)
            self._measured[nodes, gpus, local] = Measurement(nodes, gpus, local, *times)

    def _speed_of(self, shape: tuple[int, ...], batch: Batch) -> float:
        """Return the true speed in the current epoch, or in the last one if the job is complete."""
        return self.course.speed(shape, batch, min(self.epoch, self.application.epochs - 1))

    def _knowledge(self) -> tuple[int, Gradient | None]:
        """Return the knowledge that determines how the batch is divided on the current GPUs."""
        return len(self._measured), self.gradient

    def _choice(self, shape: tuple[int, ...], batch_size: int | None) -> Batch:
        """Divide a batch of the given size, or of the best size if none is given."""
        gpus, limits = sum(shape), self.course.limits(shape)
        model = self.model if batch_size is None else None
        if model is None or self.gradient is None:
            return split(batch_size or max(limits.initial_batch, limits.least_local * gpus), gpus, limits)
        best = model.goodput(len(shape), gpus, self.gradient, limits)
        return within(Batch(int(best.local), int(best.steps)), gpus, limits)
