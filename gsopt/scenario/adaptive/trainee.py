"""Adaptive job: one job that runs, measures and tunes itself."""

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
    """An adaptive job: its true progress, what it has measured, and the batch that it chose.

    Its state is a function of the calls of `place`, `slow` and `lose`, and of the clock. `advance` sets the
    clock; how often it does so makes no difference. Times are seconds since the beginning of the workload.

    **Progress.** After a restart it works from `works_from` on, at a speed that does not change until its batch
    is next tuned. It measures the step, and the gradients of the epoch, as soon as it works. At each multiple
    of the interval, and at the end of each epoch, it tunes its batch with what it knows then. It is complete at
    the end of the last epoch.

    **Batch.** A batch size chosen by its user is kept. Otherwise it takes the smallest allowed one until it has
    measured something, and from then on the one that promises the best goodput. A batch that does not fit at
    once is accumulated; so is one above the initial batch on a single GPU.

    Source: Pollux (OSDI 2021), sections 3 and 4.1, and the authors' simulator. There an epoch that has less
    than half a second left at the end of an interval ends just after it, here just before.

    Parameters
    ----------
    application
        The truth about its model.
    agents
        How it measures and tunes.
    batch_size
        Samples of its user's batch over all GPUs; None when the job chooses it.
    now
        Time of its submission.

    Attributes
    ----------
    shape
        Its GPUs on each node; empty when it has none.
    batch_size
        Samples of the batch that it was given; None when it chooses its batch.
    batch
        How its batch is divided; None when it has no GPUs.
    epoch
        Completed epochs.
    restarts
        How often it was placed again after its first placement.
    gradient
        Gradient statistics that it last measured; None before it first worked.
    completed_at
        When it completed; None before.
    """

    def __init__(self, application: Application, agents: Agents, batch_size: int | None, now: float) -> None:
        self.application, self.agents, self.batch_size = application, agents, batch_size
        self._course = Course(application, agents, batch_size)
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
        """Stop the job, or restart it on other GPUs or the same; refuse a shape on which it cannot run.

        It works again from `works_from` on, `slowdown` times slower than on GPUs of its own. No GPUs stop it,
        and no `batch_size` lets it choose its batch. The time `now` is at least that of the last call of any
        method.
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
        """Change the slowdown relative to GPUs of its own, from now on."""
        self._record_progress(now)
        self._slowdown = slowdown
        if self._next_change < inf:
            self._work(max(now, self._begun))

    def lose(self, share: float, now: float) -> None:
        """Take back a share of all its work, 1 for everything done so far; it keeps its measurements."""
        self._record_progress(now)
        self._done = max(self._done - share * self._course.work, 0.0)
        while self._course.work_at(self.epoch) > self._done:
            self.epoch -= 1
        if self._next_change < inf:
            self._work(max(now, self._begun))

    def advance(self, now: float) -> None:
        """Run until a time, which is at least that of the last call of any method."""
        while self._next_change <= now:
            self._tune()
        self._now = now
        if self._next_change < inf and now > self._begun:
            self._measure()

    def next_change(self) -> float:
        """Return when it completes or next tunes its batch, whichever is first; infinity without GPUs."""
        return self._next_change

    # The truth about it

    @property
    def share(self) -> float:
        """Completed share of its work."""
        return self._progress(self._now) / self._course.work

    def rate(self, shape: Sequence[int], batch: int | None = None) -> float:
        """Return the true speed on GPUs of its own now, as a share of the work per second.

        Without a `batch`, in samples over all GPUs, it is the one that the job would choose itself.
        """
        placed = tuple(gpus for gpus in shape if gpus)
        as_it_runs = (placed, batch) == (self.shape, self.batch_size)
        chosen = (self.batch if as_it_runs else None) or self._choice(placed, batch)
        return self._speed_of(placed, chosen) / self._course.work

    # What schedulers see

    @property
    def model(self) -> ThroughputModel | None:
        """The model fitted to all measurements; None before it first worked."""
        count = len(self._measured)
        if count and (self._fitted is None or self._fitted[0] < count):
            self._fitted = (count, fit(list(self._measured.values()), tolerance=self.agents.tolerance))
        return self._fitted[1] if self._fitted else None

    @property
    def most_gpus(self) -> int:
        """Most GPUs on which it has worked; 0 before it first worked."""
        return max((each.gpus for each in self._measured.values()), default=0)

    def goodput(self, nodes: Any, gpus: Any) -> BatchChoice | None:
        """Return the expected goodput on numbers of nodes and GPUs; None before it first worked."""
        model = self.model
        if model is None or self.gradient is None:
            return None
        return model.goodput(nodes, gpus, self.gradient, self.application.limits)

    # Running

    def _record_progress(self, now: float) -> None:
        """Record the progress made until now, before something changes."""
        self.advance(now)
        if self._next_change < inf:
            self._done, self._begun = self._progress(now), max(now, self._begun)

    def _progress(self, now: float) -> float:
        if self._next_change == inf or now <= self._begun:
            return self._done
        return min(self._done + self._speed * (now - self._begun), self._course.work_at(self.epoch + 1))

    def _work(self, begin: float) -> None:
        """Work at constant speed from a time on, until the end of the epoch or of the interval."""
        assert self.batch is not None  # noqa: S101 - whoever works has a batch
        self._begun = begin
        self._speed = self._speed_of(self.shape, self.batch) / self._slowdown
        seconds = (self._course.work_at(self.epoch + 1) - self._done) / self._speed
        if self.agents.whole_seconds:
            end = begin + max(round(seconds), 1)
        else:
            end = max(begin + seconds, nextafter(begin, inf))
        interval = self.agents.interval
        boundary = (begin // interval + 1) * interval
        self._ends_epoch, self._next_change = end <= boundary, float(min(end, boundary))

    def _tune(self) -> None:
        """End a period of constant speed: an epoch may end, and the batch is chosen anew."""
        self._measure()
        now = self._next_change
        if self._ends_epoch:
            self.epoch += 1
            self._done = self._course.work_at(self.epoch)
        else:
            self._done = self._progress(now)
        if self.epoch == self.application.epochs:
            self.completed_at, self._next_change = now, inf
            return
        if self._knowledge() != self._chosen_with:
            self._choose()
        self._work(now)

    def _choose(self) -> None:
        """Choose the batch with current knowledge; keep the old one where the new one was not measured."""
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
            times = self._course.times(self.shape, self.batch)
            self._measured[nodes, gpus, local] = Measurement(nodes, gpus, local, *times)

    def _speed_of(self, shape: tuple[int, ...], batch: Batch) -> float:
        """Return the true speed in the current epoch; in the last one when the job is complete."""
        return self._course.speed(shape, batch, min(self.epoch, self.application.epochs - 1))

    def _knowledge(self) -> tuple[int, Gradient | None]:
        """Return what decides how the batch is divided on the current GPUs."""
        return len(self._measured), self.gradient

    def _choice(self, shape: tuple[int, ...], batch_size: int | None) -> Batch:
        """Divide a batch of the given size, or of the best one if none is given."""
        gpus, limits = sum(shape), self._course.limits(shape)
        model = self.model if batch_size is None else None
        if model is None or self.gradient is None:
            return split(batch_size or max(limits.initial_batch, limits.least_local * gpus), gpus, limits)
        best = model.goodput(len(shape), gpus, self.gradient, limits)
        return within(Batch(int(best.local), int(best.steps)), gpus, limits)
