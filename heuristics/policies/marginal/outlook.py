"""Outlook: estimates of the time that jobs still need on each number of GPUs, given what is known."""

from abc import ABC, abstractmethod
from math import inf
from typing import Any, NamedTuple

from gsopt.scenario.adaptive.gradient import Gradient
from gsopt.scenario.adaptive.throughput import ThroughputModel
from gsopt.scenario.adaptive.view import TraineeView
from gsopt.simulation import State
from heuristics.policies.marginal.learned import Learned, part_of
from heuristics.policies.marginal.time_left import AHEAD, Epochs, TimeLeft

#: Largest ratio of a job's GPUs to the most GPUs on which it was measured, if only its own model is known;
#: speeds on more GPUs are extrapolated.
_GROWTH = 4.0

#: Seconds for which a job is watched to measure its speed.
_LONG_ENOUGH = 30.0


class Outlook(ABC):
    """An estimator of the time that jobs still need on each number of GPUs.

    Parameters
    ----------
    node
        Number of GPUs of the largest node. An adaptive job gets entire nodes, or a number of GPUs that divides
        that of a node, if its menu allows such numbers.
    """

    def __init__(self, node: int) -> None:
        self._node = node
        self._modes: dict[int, str] = {}
        self._counts: dict[int, tuple[int, ...]] = {}

    def add(self, state: State, job: int) -> None:
        """Record a job that has arrived, and choose its mode: one that tunes the batch size, if one fits."""
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
        """Return how many GPUs are on each node if `count` GPUs are on as few full-size nodes as possible."""
        whole, rest = divmod(count, self._node)
        return (self._node,) * whole + (rest,) * (rest > 0)

    def left(self, state: State, job: int) -> TimeLeft:
        """Estimate the GPU time that a job still needs, and the time for its next work on each number of GPUs.

        The job may run on the numbers of GPUs in `TimeLeft.seconds`.
        """
        trainee = state.trainee(job)
        return self._by_menu(state, job) if trainee is None else self._by_trainee(state, job, trainee)

    @abstractmethod
    def _by_menu(self, state: State, job: int) -> TimeLeft:
        """Estimate the same as `left` for a job that has a constant speed on each number of GPUs."""

    @abstractmethod
    def _by_trainee(self, state: State, job: int, trainee: TraineeView) -> TimeLeft:
        """Estimate the same as `left` for an adaptive job."""

    def _at_menu_speeds(self, state: State, job: int, work: float) -> TimeLeft:
        speeds = state.jobs[job].speeds[self._modes[job]]
        seconds = {count: work / speeds[count] for count in self._counts[job]}
        return _evenly(seconds, state.running.get(job, self._node))


class KnownCourse(Outlook):
    """An outlook that knows the training course of every job, and the speed on any set of GPUs in any epoch."""

    def __init__(self, node: int) -> None:
        super().__init__(node)
        self._tables: dict[Any, Epochs] = {}

    def _by_menu(self, state: State, job: int) -> TimeLeft:
        return self._at_menu_speeds(state, job, float(state.remaining(job)))

    def _by_trainee(self, state: State, job: int, trainee: TraineeView) -> TimeLeft:
        course, batch = trainee.course, state.jobs[job].batch_in(self._modes[job])
        users = course.users_batch if course.agents.progress == "samples" else None
        key = (course.application.name, batch, users, self._counts[job])
        if key not in self._tables:
            shapes = [self.shape(count) for count in self._counts[job]]
            self._tables[key] = Epochs.of(course, batch, shapes, self._node)
        epoch = min(trainee.epoch, course.application.epochs - 1)
        return self._tables[key].left(epoch, trainee.share * course.work, state.running.get(job))


class KnownEpochs(Outlook):
    """An outlook that knows each job's epochs, and learns speeds from the jobs of the same application so far.

    Jobs are of one kind if they train the same application, may run on the same numbers of GPUs, and either
    choose their batch or have the same one. If progress is counted in samples, their users must also have
    chosen the same batch. Until a job of a kind has been measured, jobs of this kind run on their fewest GPUs.
    """

    def __init__(self, node: int) -> None:
        super().__init__(node)
        self._fits: dict[str, _Fit] = {}  # by application: of the job that had most GPUs
        self._learned: dict[Any, Learned] = {}  # by kind
        self._watched: dict[int, _Watched] = {}

    def _by_menu(self, state: State, job: int) -> TimeLeft:
        return self._at_menu_speeds(state, job, float(state.remaining(job)))

    def _by_trainee(self, state: State, job: int, trainee: TraineeView) -> TimeLeft:
        counts, learned = self._counts[job], self._of_kind(state, job, trainee)
        self._watch(state, job, trainee, learned)
        fit = self._best_fit(trainee)
        table = learned.table(fit.model) if fit else None
        if table is None or not table.runs:
            return TimeLeft(0.0, {counts[0]: 1 - trainee.share})
        left = table.left(part_of(trainee.share), trainee.share, state.running.get(job))
        return left._replace(untried=learned.untried)

    def _of_kind(self, state: State, job: int, trainee: TraineeView) -> Learned:
        """Return what jobs of the same kind have shown."""
        course, counts, batch = trainee.course, self._counts[job], state.jobs[job].batch_in(self._modes[job])
        users = course.users_batch if course.agents.progress == "samples" else None
        kind = (course.application.name, batch, users, counts)
        if kind not in self._learned:
            nodes = [len(self.shape(count)) for count in counts]
            self._learned[kind] = Learned(course.application, counts, nodes, self._node)
        return self._learned[kind]

    def _best_fit(self, trainee: TraineeView) -> "_Fit | None":
        """Return the fit of the application's job that has had the most GPUs, or None if none has worked."""
        own, name = _fit(trainee), trainee.application.name
        if own is not None and (name not in self._fits or own[:2] > self._fits[name][:2]):
            self._fits[name] = own
        return self._fits.get(name)

    def _watch(self, state: State, job: int, trainee: TraineeView, learned: Learned) -> None:
        """Record the gradient of a job, and its speed since it was last seen at work on the same GPUs."""
        if trainee.gradient is not None:
            learned.note_gradient(trainee.share, trainee.gradient)
        gpus = state.placement(job) if job in state.running else ()
        now, before = _Watched(gpus, float(state.now), trainee.share), self._watched.get(job)
        if before is None or before.gpus != gpus or now.share < before.share:
            self._watched[job] = now._replace(since=inf)  # it may have to restart first
        elif before.since == inf:
            if now.share > before.share:
                self._watched[job] = now
        elif now.since - before.since >= _LONG_ENOUGH:
            learned.note_speed(len(gpus), before.share, now.share, now.since - before.since)
            self._watched[job] = now


class UnknownWork(Outlook):
    """An outlook that knows no durations, and expects each job to need as much GPU time again as it has had.

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

    def _expected(self, state: State, job: int, trainee: TraineeView, work: float) -> TimeLeft | None:
        """Estimate the time for some work by a fitted model, or return None if there is no model yet."""
        fit, limits = _fit(trainee), trainee.application.limits
        counts = [count for count in self._counts[job] if fit and count <= _GROWTH * fit.most_gpus]
        if fit is None or not counts:
            return None
        nodes = [len(self.shape(count)) for count in counts]
        found = fit.model.goodput(nodes, counts, fit.gradient, limits)
        samples = work * limits.initial_batch
        seconds = {
            count: samples / rate for count, rate in zip(counts, found.goodput.tolist(), strict=True) if rate
        }
        return _evenly(seconds, state.running.get(job, self._node)) if seconds else None


class _Fit(NamedTuple):
    """The models fitted to a job's measurements, the most GPUs that it has had, and its restarts."""

    most_gpus: int
    restarts: int
    model: ThroughputModel
    gradient: Gradient


class _Watched(NamedTuple):
    """The GPUs of a job, since when it has been seen at work on them, and the share of its work done then."""

    gpus: tuple[int, ...]
    since: float  # infinity until it has made progress
    share: float


def _fit(trainee: TraineeView) -> _Fit | None:
    """Return the models fitted to a job's measurements, or None before it has measured anything."""
    if trainee.model is None or trainee.gradient is None:
        return None
    return _Fit(trainee.most_gpus, trainee.restarts, trainee.model, trainee.gradient)


def _evenly(seconds: dict[int, float], usual: int) -> TimeLeft:
    """Return the time left of a job whose speed stays the same; `usual` GPUs set the work of the next hour."""
    area = min(count * each for count, each in seconds.items())
    whole = seconds[min(seconds, key=lambda count: abs(count - usual))]
    ahead = min(AHEAD / whole, 1.0)
    return TimeLeft(area, {count: each * ahead for count, each in seconds.items()})
