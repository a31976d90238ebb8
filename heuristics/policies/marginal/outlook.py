"""Outlook: estimates of how long jobs still take on each number of GPUs, given what is known."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.adaptive.gradient import Gradient
from gsopt.scenario.adaptive.throughput import ThroughputModel
from gsopt.scenario.adaptive.view import TraineeView
from gsopt.simulation import State

Array = np.ndarray[Any, Any]

#: GPUs are chosen for the work of this many seconds ahead: an hour is long enough to pay for restarts.
_AHEAD = 3600.0


class TimeLeft(NamedTuple):
    """A job's remaining GPU time, and the time for the work ahead on each number of GPUs.

    Attributes
    ----------
    area
        The fewest GPU-seconds in which the job can complete.
    seconds
        The seconds that the work of about the next hour takes, keyed by number of GPUs.
    """

    area: float
    seconds: dict[int, float]


class Outlook(ABC):
    """An estimator of how long jobs still take on each number of GPUs.

    Parameters
    ----------
    node
        Number of GPUs of the largest node. A job has some GPUs of one node, or entire nodes.

    Attributes
    ----------
    growth
        Largest ratio of a job's GPUs to the most GPUs on which it was measured; speeds on more GPUs are
        extrapolated.
    """

    growth = 4.0

    def __init__(self, node: int) -> None:
        self._node = node
        self._modes: dict[int, str] = {}
        self._counts: dict[int, tuple[int, ...]] = {}

    def add(self, state: State, job: int) -> None:
        """Record a job that has arrived, and choose its mode: one that tunes the batch size, if that fits."""
        item, cluster = state.jobs[job], state.cluster
        rooms = {mode: cluster.room(item.gpu_type_in(mode), item.memory_in(mode) or 0) for mode in item.speeds}
        fitting = [mode for mode, menu in item.speeds.items() if min(menu) <= rooms[mode]]
        mode = self._modes[job] = next(filter(item.tunes_in, fitting), fitting[0])
        counts = sorted(count for count in item.speeds[mode] if count <= rooms[mode])
        even = [count for count in counts if not max(count, self._node) % min(count, self._node)]
        adapts = state.trainee(job) is not None
        self._counts[job] = tuple(even if even and adapts else counts)

    def mode(self, job: int) -> str:
        """Return the mode in which a job runs."""
        return self._modes[job]

    def shape(self, count: int) -> tuple[int, ...]:
        """Return how many GPUs are on each node if a number of GPUs is on as few nodes as possible."""
        whole, rest = divmod(count, self._node)
        return (self._node,) * whole + (rest,) * (rest > 0)

    def left(self, state: State, job: int) -> TimeLeft:
        """Estimate the remaining time of a job, which may run on the numbers of GPUs in `TimeLeft.seconds`."""
        trainee = state.trainee(job)
        return self._by_menu(state, job) if trainee is None else self._by_trainee(state, job, trainee)

    @abstractmethod
    def _by_menu(self, state: State, job: int) -> TimeLeft:
        """Estimate the remaining time of a job that has a constant speed on each number of GPUs."""

    @abstractmethod
    def _by_trainee(self, state: State, job: int, trainee: TraineeView) -> TimeLeft:
        """Estimate the remaining time of an adaptive job."""

    def _at_menu_speeds(self, state: State, job: int, work: float) -> TimeLeft:
        speeds = state.jobs[job].speeds[self._modes[job]]
        seconds = {count: work / speeds[count] for count in self._counts[job]}
        return _evenly(seconds, state.running.get(job, self._node))

    def _fit(self, trainee: TraineeView) -> "_Fit | None":
        """Return the models fitted to a job's measurements, or None before it has measured anything."""
        if trainee.model is None or trainee.gradient is None:
            return None
        return _Fit(trainee.most_gpus, trainee.restarts, trainee.model, trainee.gradient)

    def _expected(self, state: State, job: int, trainee: TraineeView, work: float) -> TimeLeft | None:
        """Estimate the time for some work by a fitted model, or return None if there is no model yet."""
        fit, limits = self._fit(trainee), trainee.application.limits
        counts = [count for count in self._counts[job] if fit and count <= self.growth * fit.most_gpus]
        if fit is None or not counts:
            return None
        nodes = [len(self.shape(count)) for count in counts]
        found = fit.model.goodput(nodes, counts, fit.gradient, limits)
        samples = work * limits.initial_batch
        seconds = {
            count: samples / rate for count, rate in zip(counts, found.goodput.tolist(), strict=True) if rate
        }
        return _evenly(seconds, state.running.get(job, self._node)) if seconds else None


class KnownCourse(Outlook):
    """An outlook that knows the training course of every job, and the speed on any set of GPUs in any epoch."""

    def __init__(self, node: int) -> None:
        super().__init__(node)
        self._tables: dict[Any, _Epochs] = {}

    def _by_menu(self, state: State, job: int) -> TimeLeft:
        return self._at_menu_speeds(state, job, float(state.remaining(job)))

    def _by_trainee(self, state: State, job: int, trainee: TraineeView) -> TimeLeft:
        course, batch = trainee.course, state.jobs[job].batch_in(self._modes[job])
        users = course.users_batch if course.agents.progress == "samples" else None
        key = (course.application.name, batch, users, self._counts[job])
        if key not in self._tables:
            shapes = [self.shape(count) for count in self._counts[job]]
            self._tables[key] = _Epochs(course, batch, shapes, self._node)
        epoch = min(trainee.epoch, course.application.epochs - 1)
        return self._tables[key].left(epoch, trainee.share * course.work, state.running.get(job))


class KnownEpochs(Outlook):
    """An outlook that knows each job's epochs, and predicts speeds from measurements of its application.

    Only the first job of an application begins without known speeds, so the number of GPUs is not limited.
    """

    growth = inf

    def __init__(self, node: int) -> None:
        super().__init__(node)
        self._fits: dict[str, _Fit] = {}  # by application: of the job that had most GPUs
        self._first: dict[str, Gradient] = {}  # by application: the first gradient that was measured

    def _fit(self, trainee: TraineeView) -> "_Fit | None":
        """Return the fit of the application's job that has had the most GPUs, with the job's own gradient."""
        own, name = super()._fit(trainee), trainee.application.name
        best = self._fits.get(name)
        if own is None:
            return best and best._replace(gradient=self._first[name])
        self._first.setdefault(name, own.gradient)
        if best is None or own[:2] > best[:2]:
            best = self._fits[name] = own
        return best._replace(gradient=own.gradient)

    def _by_menu(self, state: State, job: int) -> TimeLeft:
        return self._at_menu_speeds(state, job, float(state.remaining(job)))

    def _by_trainee(self, state: State, job: int, trainee: TraineeView) -> TimeLeft:
        left = (1 - trainee.share) * trainee.application.work
        return self._expected(state, job, trainee, left) or TimeLeft(0.0, {self._counts[job][0]: left})


class UnknownWork(Outlook):
    """An outlook that knows no durations, and expects each job to need as much GPU time as it has had.

    Parameters
    ----------
    node
        As for `Outlook`.
    grace
        The GPU-seconds that every job counts as having had when it begins.
    """

    def __init__(self, node: int, grace: float) -> None:
        super().__init__(node)
        self._grace = grace

    def _by_menu(self, state: State, job: int) -> TimeLeft:
        service = float(state.service(job)) + self._grace
        return self._at_menu_speeds(state, job, service / self._at_menu_speeds(state, job, 1.0).area)

    def _by_trainee(self, state: State, job: int, trainee: TraineeView) -> TimeLeft:
        service = float(state.service(job)) + self._grace
        a_step = self._expected(state, job, trainee, 1.0)
        work = 0.0 if a_step is None else service / a_step.area
        return self._expected(state, job, trainee, work) or TimeLeft(
            self._grace, {self._counts[job][0]: service}
        )


class _Fit(NamedTuple):
    """The models fitted to a job's measurements, the most GPUs that it has had, and its restarts."""

    most_gpus: int
    restarts: int
    model: ThroughputModel
    gradient: Gradient


class _Epochs:
    """The seconds of every epoch of a training on some numbers of GPUs, each with a fixed shape."""

    def __init__(self, course: Course, batch: int | None, shapes: Sequence[tuple[int, ...]], node: int) -> None:
        ends = np.array([course.work_at(epoch) for epoch in range(course.application.epochs + 1)])
        speeds = np.array([course.highest_speeds_on(shape, batch) for shape in shapes])
        runs = speeds.min(axis=1) > 0
        self._begins, self._work = ends[:-1], np.diff(ends)
        self._counts = np.array([sum(shape) for shape in shapes])[runs]
        self._usual = int(np.abs(self._counts - node).argmin()) if runs.any() else 0
        self._seconds = (self._work / speeds[runs]).T  # by epoch, then by number of GPUs
        self._areas = (self._seconds * self._counts).min(axis=1, initial=np.inf)
        self._seconds_from = _from_each(self._seconds)  # from the beginning of each epoch to the end
        self._areas_from = _from_each(self._areas)

    def left(self, epoch: int, done: float, held: int | None) -> TimeLeft:
        """Return the remaining time of a job in an epoch, given its work done and the GPUs that it holds."""
        if not len(self._counts):
            return TimeLeft(0.0, {})  # it runs nowhere
        share = min(max((done - self._begins[epoch]) / self._work[epoch], 0.0), 1.0)
        column = self._column(held)
        ending = self._seconds_from[epoch, column] - share * self._seconds[epoch, column] - _AHEAD
        last = np.searchsorted(-self._seconds_from[epoch + 1 :, column], -max(ending, 0.0)) + epoch + 1
        ahead = self._seconds_from[epoch] - self._seconds_from[last] - share * self._seconds[epoch]
        area = self._areas_from[epoch] - share * self._areas[epoch]
        return TimeLeft(float(area), dict(zip(self._counts.tolist(), ahead.tolist(), strict=True)))

    def _column(self, held: int | None) -> int:
        """Return the column of a number of GPUs or, if there is none, the column nearest to a full node."""
        found = np.flatnonzero(self._counts == held)
        return int(found[0]) if len(found) else self._usual


def _from_each(values: Array) -> Array:
    """Return the sum of the values from each index to the end, followed by a 0."""
    sums = np.zeros((len(values) + 1, *values.shape[1:]))
    sums[:-1] = values[::-1].cumsum(axis=0)[::-1]
    return sums


def _evenly(seconds: dict[int, float], usual: int) -> TimeLeft:
    """Return the remaining time of a job whose work is uniform, with `usual` GPUs for the work ahead."""
    area = min(count * each for count, each in seconds.items())
    whole = seconds[min(seconds, key=lambda count: abs(count - usual))]
    ahead = min(_AHEAD / whole, 1.0)
    return TimeLeft(area, {count: each * ahead for count, each in seconds.items()})
