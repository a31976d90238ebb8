"""Trainee: an adaptive job, which runs, measures and tunes itself."""

from collections.abc import Sequence
from math import inf, nextafter
from typing import Any

from gsopt.core.numbers.tolerances import SECOND_DECIMALS
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.batch import Batch, split, within
from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.adaptive.fitting import Measurement, fit
from gsopt.scenario.adaptive.gradient import Gradient
from gsopt.scenario.adaptive.throughput import BatchChoice, ThroughputModel


class Trainee:
    """The state of an adaptive job: its true progress, its measurements and its batch.

    The state depends only on the calls to `place`, `slow` and `lose`, and on the time. `advance` sets the time;
    how often it is called makes no difference. Times are in seconds since the origin of the scenario's clock.

    **Progress.** After a restart, the job resumes work at the time `works_from` (see `place`). Its speed is
    constant until it next tunes its batch or its slowdown changes. As soon as it starts to work, it measures
    the step time and the gradients of the epoch. At each multiple of the interval, and at the end of each
    epoch, it tunes its batch based on its measurements so far. It is complete at the end of the last epoch.

    **Batch.** If a batch size was assigned to the job, the job keeps it. Otherwise, the job uses the smallest
    allowed batch size until its first measurement, and then the one with the best expected goodput. When it
    tunes its batch, it keeps the old one if the step time of the new one is unknown. Gradients are accumulated
    if the batch does not fit at once and, on a single GPU, if the batch is larger than the initial one.

    **GPU types.** If its application has measurements by GPU type, the job measures and fits each type
    separately. On each type, it starts with the smallest batch size.

    Source: Pollux (OSDI 2021), sections 3 and 4.1, and the authors' simulator. In the simulator, an epoch with
    less than half a second left at the end of an interval ends just after the interval. Here, both end
    together if times are rounded to whole seconds. For several GPU types: Sia (SOSP 2023) and its authors'
    simulator.

    Parameters
    ----------
    application
        The measurements of the job's model.
    agents
        The settings that control how the job measures and tunes itself.
    batch_size
        Batch size over all GPUs, as chosen by the user; None if the job chooses it. `place` may change it.
    now
        The time at which the job is submitted.

    Attributes
    ----------
    course
        The true course of the job's training.
    shape, gpu_type
        Number of the job's GPUs on each node (empty if it has none), and the type of its current or last GPUs
        (empty if it never had any, or if its application does not distinguish types).
    batch_size
        Batch size assigned to the job, summed over its GPUs; None if the job chooses its own.
    batch
        The division of the job's batch; None if the job has no GPUs.
    epoch
        Number of completed epochs.
    restarts
        Number of placements after the first one.
    gradient
        The most recently measured gradient statistics; None before the job first works.
    completed_at
        The job's completion time; None before it completes.
    """

    def __init__(self, application: Application, agents: Agents, batch_size: int | None, now: float) -> None:
        self.application, self.agents, self.batch_size = application, agents, batch_size
        self.course = Course(application, agents, batch_size)
        self.shape: tuple[int, ...] = ()
        self.gpu_type = ""
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
        self._measured: dict[tuple[str, int, int, int], Measurement] = {}
        self._chosen_with = self._knowledge()
        self._fitted: dict[str | None, tuple[int, ThroughputModel | None]] = {}  # by type; None for all

    # What happens to the job

    def place(
        self,
        shape: Sequence[int],
        now: float,
        works_from: float,
        slowdown: float = 1.0,
        batch_size: int | None = None,
        gpu_type: str = "",
    ) -> None:
        """Start or restart the job on the given GPUs of one type, or stop it if `shape` is empty.

        The job works from `works_from` on. `slowdown` is the factor by which partners and GPU types slow it
        down. If `batch_size` is None, the job chooses its batch size, even if it had been assigned one. `now`
        must not be earlier than in any previous call to any method. A shape on which the job cannot run is
        rejected with `InvalidInput`, and the job continues as before.
        """
        self._record_progress(now)
        placed = tuple(gpus for gpus in shape if gpus)
        if not placed:
            self.shape, self.batch, self._next_change = (), None, inf
            return
        kind = self.application.kind(gpu_type)
        batch = self._choice(placed, kind, batch_size)
        self._speed_of(placed, kind, batch)  # refused before anything has changed
        self.shape, self.batch, self._chosen_with = placed, batch, self._knowledge()
        self.gpu_type = kind
        self.batch_size, self._slowdown = batch_size, slowdown
        self.restarts += self._was_placed
        self._was_placed = True
        self._work(max(now, works_from))

    def slow(self, slowdown: float, now: float) -> None:
        """Set the slowdown due to partners and GPU types that applies from `now` on."""
        self._record_progress(now)
        self._slowdown = slowdown
        if self._next_change < inf:
            self._work(max(now, self._begun))

    def lose(self, share: float, now: float) -> None:
        """Reduce the progress by a fraction of all work, but not below 0. The job keeps its measurements."""
        self._record_progress(now)
        self._done = max(self._done - share * self.course.work, 0.0)
        while self.course.work_at(self.epoch) > self._done:
            self.epoch -= 1
        if self._next_change < inf:
            self._work(max(now, self._begun))

    def advance(self, now: float) -> None:
        """Run the job until `now`, which must not be earlier than in any previous call to any method."""
        while self._next_change <= now:
            self._tune()
        self._now = now
        if self._next_change < inf and now > self._begun:
            self._measure()

    def next_change(self) -> float:
        """Return the next time at which the job completes or tunes its batch; infinity if it is not running."""
        return self._next_change

    # The truth about it

    @property
    def share(self) -> float:
        """The completed fraction of the job's work."""
        return self._progress(self._now) / self.course.work

    def rate(self, shape: Sequence[int], batch: int | None = None, gpu_type: str = "") -> float:
        """Return the true speed on a shape in the current epoch, as a fraction of the job's work per second.

        Slowdowns due to partners or slower GPU types are not included. `batch` is the batch size over all GPUs;
        None stands for the one that the job would choose.
        """
        placed, kind = tuple(gpus for gpus in shape if gpus), self.application.kind(gpu_type)
        as_it_runs = (placed, kind, batch) == (self.shape, self.gpu_type, self.batch_size)
        chosen = (self.batch if as_it_runs else None) or self._choice(placed, kind, batch)
        return self._speed_of(placed, kind, chosen) / self.course.work

    # What schedulers see

    @property
    def model(self) -> ThroughputModel | None:
        """The throughput model fitted to all measurements, as if all GPUs were alike.

        It is None before the job first works. If a configuration was measured on several GPU types, only its
        first measurement counts.
        """
        return self._model(None)

    def model_on(self, gpu_type: str) -> ThroughputModel | None:
        """Return the throughput model fitted to the measurements on a type, or None if there are none."""
        return self._model(self.application.kind(gpu_type))

    def _model(self, kind: str | None) -> ThroughputModel | None:
        count = len(self._measured)
        if self._fitted.get(kind, (0, None))[0] < count:
            known: dict[tuple[int, int, int], Measurement] = {}
            for (where, *_), measurement in self._measured.items():
                if kind in (None, where):
                    known.setdefault(measurement[:3], measurement)
            tolerance = self.agents.tolerance
            self._fitted[kind] = count, fit(list(known.values()), tolerance=tolerance) if known else None
        return self._fitted[kind][1] if count else None

    @property
    def worked_on(self) -> tuple[str, ...]:
        """GPU types on which the job has worked, in order of first use; named ``""`` if types do not matter."""
        return tuple(dict.fromkeys(kind for kind, *_ in self._measured))

    @property
    def most_gpus(self) -> int:
        """Largest number of GPUs on which the job has worked, or 0 before it first works."""
        return max((each.gpus for each in self._measured.values()), default=0)

    def goodput(self, nodes: Any, gpus: Any, gpu_type: str | None = None) -> BatchChoice | None:
        """Return the best expected goodput and its batch, or None if the job has never worked on the GPU type.

        `nodes` and `gpus` are numbers, or arrays of numbers. If `gpu_type` is None, types are treated alike.
        """
        model = self.model if gpu_type is None else self.model_on(gpu_type)
        if model is None or self.gradient is None:
            return None
        return model.goodput(nodes, gpus, self.gradient, self.application.on(gpu_type or "").limits)

    # Running

    def _record_progress(self, now: float) -> None:
        """Record the progress until `now`, before something changes."""
        self.advance(now)
        if self._next_change < inf:
            self._done, self._begun = self._progress(now), max(now, self._begun)

    def _progress(self, now: float) -> float:
        if self._next_change == inf or now <= self._begun:
            return self._done
        return min(self._done + self._speed * (now - self._begun), self.course.work_at(self.epoch + 1))

    def _work(self, begin: float) -> None:
        """Work at constant speed from `begin` on, until the epoch or the interval ends."""
        assert self.batch is not None  # noqa: S101 - whoever works has a batch
        self._begun = begin
        self._speed = self._speed_of(self.shape, self.gpu_type, self.batch) / self._slowdown
        seconds = (self.course.work_at(self.epoch + 1) - self._done) / self._speed
        if self.agents.whole_seconds:
            end = begin + max(round(round(seconds, SECOND_DECIMALS)), 1)
        else:
            end = max(begin + seconds, nextafter(begin, inf))
        interval = self.agents.interval
        boundary = (begin // interval + 1) * interval
        self._ends_epoch, self._next_change = end <= boundary, float(min(end, boundary))

    def _tune(self) -> None:
        """End a period of constant speed: complete the epoch if it is over, and choose the batch again."""
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
        """Choose the batch again, but keep the old one if the step time of the new one is unknown."""
        self._chosen_with = self._knowledge()
        batch = self._choice(self.shape, self.gpu_type, self.batch_size)
        if self.application.on(self.gpu_type).step_time(self.shape, batch.local) is not None:
            self.batch = batch

    def _measure(self) -> None:
        """Record the step time and the gradient statistics."""
        assert self.batch is not None  # noqa: S101 - whoever works has a batch
        nodes, gpus, local = len(self.shape), sum(self.shape), self.batch.local
        self.gradient = self.application.gradient(self.batch.over(gpus), self.epoch)
        if (self.gpu_type, nodes, gpus, local) not in self._measured:
            times = self.course.on(self.gpu_type).times(self.shape, self.batch)
            self._measured[self.gpu_type, nodes, gpus, local] = Measurement(nodes, gpus, local, *times)

    def _speed_of(self, shape: tuple[int, ...], kind: str, batch: Batch) -> float:
        """Return the true speed in the current epoch, or in the last one if the job is complete."""
        return self.course.on(kind).speed(shape, batch, min(self.epoch, self.application.epochs - 1))

    def _knowledge(self) -> tuple[int, Gradient | None]:
        """Return what the choice of a batch depends on: the number of measurements and the last gradient."""
        return len(self._measured), self.gradient

    def _choice(self, shape: tuple[int, ...], kind: str, batch_size: int | None) -> Batch:
        """Divide a batch of the given size, or of the best size if it is None."""
        gpus, limits = sum(shape), self.course.on(kind).limits(shape)
        model = self._model(kind) if batch_size is None else None
        if model is None or self.gradient is None:
            return split(batch_size or max(limits.initial_batch, limits.least_local * gpus), gpus, limits)
        best = model.goodput(len(shape), gpus, self.gradient, limits)
        return within(Batch(int(best.local), int(best.steps)), gpus, limits)
