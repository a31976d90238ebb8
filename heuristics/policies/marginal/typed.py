"""Typed: GPU types and GPU counts for jobs that tune themselves and run on one GPU type at a time."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import exp, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.adaptive.projection import projected_goodput
from gsopt.scenario.adaptive.view import TraineeView
from gsopt.scenario.job import LEAST
from gsopt.simulation import Action, Assign, State, Wake
from gsopt.simulation.parts.instants import Instants
from heuristics.policies.marginal.adapting import AdaptingOptions
from heuristics.policies.marginal.nodes import Nodes, Spread

Array = np.ndarray[Any, Any]

#: A way to run a job: a GPU type, and a number of GPUs.
Way = tuple[str, int]

#: Seconds of work ahead for which GPUs are chosen, and largest ratio of a job's GPUs to the most GPUs on which
#: it was measured; both as on GPUs of one kind.
_AHEAD, _GROWTH = 3600.0, 4


class WorkLeft(NamedTuple):
    """The fewest weighted GPU-seconds that a job still needs, and the seconds that its next work takes.

    GPU-seconds are weighted by GPU type (see `Worth`). The next work is what the job does in about an hour in
    its current way to run or, if it has no GPUs, in the way nearest to a full node. The seconds are given for
    each way to run, that is, for each GPU type and number of GPUs.
    """

    area: float
    seconds: Mapping[Way, float]


class Worth:
    """The weight of a GPU of each type: how fast jobs are on it on average, relative to the first type."""

    def __init__(self, types: Sequence[str]) -> None:
        self._logs = dict.fromkeys(types, 0.0)
        self.jobs = 0

    def see(self, speeds: Mapping[str, float]) -> None:
        """Include a job's speed per GPU on each type in the weights, if it runs on all types."""
        if min((speeds.get(name, 0.0) for name in self._logs), default=0.0) > 0:
            first = log(speeds[next(iter(self._logs))])
            for name in self._logs:
                self._logs[name] += log(speeds[name]) - first
            self.jobs += 1

    def of(self, way: Way) -> float:
        """Return the total weight of the GPUs that the given way uses."""
        return way[1] * exp(self._logs[way[0]] / max(self.jobs, 1))


class TypedOutlook(ABC):
    """An estimator of the time that jobs still need on each number of GPUs of each type.

    On a type, a job gets entire nodes, or a number of GPUs that divides that of a node, if its menu allows such
    numbers.
    """

    def __init__(self, state: State) -> None:
        cluster = state.cluster
        self.types = cluster.gpu_types
        self.worth = Worth(self.types)
        sizes = {name: [m.gpus for m in cluster.machines if m.gpu_type == name] for name in self.types}
        self._node = {name: max(own) for name, own in sizes.items()}
        self._ways: dict[int, list[Way]] = {}
        self._modes: dict[tuple[int, str], str] = {}

    def add(self, state: State, job: int) -> None:
        """Record a job that has arrived, and choose its mode on each type: one that tunes the batch, if any."""
        item, cluster = state.jobs[job], state.cluster
        ways: list[Way] = []
        for name in self.types:
            fitting = [
                mode
                for mode, menu in item.speeds.items()
                if item.gpu_type_in(mode) in ("", name)
                and min(menu) <= cluster.room(name, item.memory_in(mode) or 0)
            ]
            if fitting:
                mode = self._modes[job, name] = next(filter(item.tunes_in, fitting), fitting[0])
                room, node = cluster.room(name, item.memory_in(mode) or 0), self._node[name]
                counts = sorted(count for count in item.speeds[mode] if count <= room)
                even = [count for count in counts if not max(count, node) % min(count, node)]
                ways += [(name, count) for count in even or counts]
        self._ways[job] = ways
        self.worth.see(self._speeds(state, job))

    def mode(self, job: int, way: Way) -> str:
        """Return the mode in which a job runs on the GPU type of the given way."""
        return self._modes[job, way[0]]

    def left(self, state: State, job: int, held: Way | None) -> WorkLeft:
        """Estimate the work that a job still needs, and how long its next work takes in each way to run.

        `held` is the way in which the job runs now, or None if it has no GPUs. `WorkLeft` explains the result.
        """
        trainee = state.trainee(job)
        if trainee is None:
            return self._evenly(self._by_menu(state, job), held)
        return self._by_trainee(state, job, trainee, held)

    def shape(self, way: Way) -> tuple[int, ...]:
        """Return how many GPUs are on each node if a way uses as few full-size nodes as possible."""
        node = self._node[way[0]]
        whole, rest = divmod(way[1], node)
        return (node,) * whole + (rest,) * (rest > 0)

    @abstractmethod
    def _by_trainee(self, state: State, job: int, trainee: TraineeView, held: Way | None) -> WorkLeft:
        """Estimate the remaining work of an adaptive job, and how long its next work takes, as `left` does."""

    def _speeds(self, state: State, job: int) -> dict[str, float]:
        """Return a job's profiled speed on a single GPU of each type, or nothing if it is not adaptive."""
        trainee = state.trainee(job)
        if trainee is None:
            return {}
        return {name: trainee.application.on(name).single_speed for name in self.types}

    def _by_menu(self, state: State, job: int) -> dict[Way, float]:
        """Return the remaining seconds of a job that has a constant speed in each way to run."""
        item, left = state.jobs[job], float(state.remaining(job))
        return {way: left / item.speeds[self.mode(job, way)][way[1]] for way in self._ways[job]}

    def _evenly(self, seconds: Mapping[Way, float], held: Way | None) -> WorkLeft:
        """Return the work left of a job whose speed stays the same, given its seconds in each way to run."""
        area = min(self.worth.of(way) * each for way, each in seconds.items())
        whole = seconds[self._usual(seconds) if held is None or held not in seconds else held]
        ahead = min(_AHEAD / whole, 1.0)
        return WorkLeft(area, {way: each * ahead for way, each in seconds.items()})

    def _usual(self, ways: Iterable[Way]) -> Way:
        """Return the way that is nearest to a full node of its type; ties go to the first."""
        return min(ways, key=lambda way: abs(log(way[1] / self._node[way[0]])))

    def _expected(self, job: int, trainee: TraineeView, work: float) -> dict[Way, float]:
        """Return the seconds of some work, predicted from the job's measurements; empty if there are none."""
        seconds: dict[Way, float] = {}
        samples = work * trainee.application.limits.initial_batch
        for name in self.types:
            ways = [way for way in self._ways[job] if way[0] == name and way[1] <= _GROWTH * trainee.most_gpus]
            nodes, counts = [len(self.shape(way)) for way in ways], [way[1] for way in ways]
            found = projected_goodput(trainee, name, nodes, counts) if ways else None
            if found is not None:
                seconds |= {way: samples / rate for way, rate in zip(ways, found.tolist(), strict=True) if rate}
        return seconds

    def _first(self, job: int, trainee: TraineeView, work: float) -> dict[Way, float]:
        """Return the seconds of some work on the fewest GPUs of each type, at the speed of a single GPU."""
        samples, seconds = work * trainee.application.limits.initial_batch, dict[Way, float]()
        for way in reversed(self._ways[job]):
            seconds = {other: each for other, each in seconds.items() if other[0] != way[0]}
            seconds[way] = samples / trainee.application.on(way[0]).single_speed
        return seconds


class KnownTypedCourse(TypedOutlook):
    """An outlook that knows the training course of every job, and the speed on any set of GPUs in any epoch."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self._tables: dict[Any, _Epochs] = {}

    def _by_trainee(self, state: State, job: int, trainee: TraineeView, held: Way | None) -> WorkLeft:
        table = self._table(state, job, trainee)
        if not table.ways:
            return WorkLeft(0.0, {})  # it runs nowhere
        epoch = min(trainee.epoch, trainee.application.epochs - 1)
        usual = held if held in table.ways else self._usual(table.ways)
        return table.left(epoch, trainee.share * trainee.course.work, usual, self.worth)

    def _speeds(self, state: State, job: int) -> dict[str, float]:
        """Return a job's highest speed per GPU on each type, or nothing if it is not adaptive."""
        trainee = state.trainee(job)
        return {} if trainee is None else self._table(state, job, trainee).speeds

    def _table(self, state: State, job: int, trainee: TraineeView) -> "_Epochs":
        item, course, ways = state.jobs[job], trainee.course, self._ways[job]
        users = course.users_batch if course.agents.progress == "samples" else None
        batches = tuple(item.batch_in(self.mode(job, way)) for way in ways)
        key = course.application.name, batches, users, tuple(ways)
        if key not in self._tables:
            shapes = [self.shape(way) for way in ways]
            self._tables[key] = _Epochs(course, list(zip(ways, shapes, batches, strict=True)))
        return self._tables[key]


class KnownTypedEpochs(TypedOutlook):
    """An outlook that knows each job's epochs, and predicts speeds from the job's own measurements."""

    def _by_trainee(self, state: State, job: int, trainee: TraineeView, held: Way | None) -> WorkLeft:
        del state
        work = (1 - trainee.share) * trainee.application.work
        seconds = self._expected(job, trainee, work)
        if seconds:
            return self._evenly(seconds, held)
        return WorkLeft(0.0, self._first(job, trainee, work))


class UnknownTypedWork(TypedOutlook):
    """An outlook that knows no durations, and expects a job to need as much weighted GPU time as it has had.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    grace
        GPU-seconds that every job counts as having had when it begins.
    """

    def __init__(self, state: State, grace: float) -> None:
        super().__init__(state)
        self._grace = grace
        self._had: dict[int, tuple[float, float]] = {}  # until when, and GPU-seconds by their worth

    def left(self, state: State, job: int, held: Way | None) -> WorkLeft:
        """Estimate the work that a job still needs, and how long its next work takes in each way to run.

        `held` is the way in which the job runs now, and has run since the last call; None if it has no GPUs.
        """
        now, (before, had) = float(state.now), self._had.get(job, (float(state.now), self._grace))
        self._had[job] = now, had + (self.worth.of(held) * (now - before) if held else 0.0)
        return super().left(state, job, held)

    def _by_menu(self, state: State, job: int) -> dict[Way, float]:
        service, seconds = self._had[job][1], super()._by_menu(state, job)
        area = min(self.worth.of(way) * each for way, each in seconds.items())
        return {way: each * service / area for way, each in seconds.items()}

    def _by_trainee(self, state: State, job: int, trainee: TraineeView, held: Way | None) -> WorkLeft:
        del state
        service = self._had[job][1]
        seconds = self._expected(job, trainee, 1.0)
        if not seconds:
            return WorkLeft(self._grace, self._first(job, trainee, service))
        area = min(self.worth.of(way) * each for way, each in seconds.items())
        return self._evenly({way: each * service / area for way, each in seconds.items()}, held)


class _Epochs:
    """The seconds that each epoch of a training run takes, in some ways to run.

    Each way has a fixed shape and batch size; the latter is None if the job chooses it.
    """

    def __init__(self, course: Course, ways: Sequence[tuple[Way, tuple[int, ...], int | None]]) -> None:
        ends = np.array([course.work_at(epoch) for epoch in range(course.application.epochs + 1)])
        speeds = {
            way: course.on(way[0]).highest_speeds_on(shape, batch)  # by epoch
            for way, shape, batch in ways
        }
        self.ways = {way: column for column, way in enumerate(w for w, own in speeds.items() if own.min() > 0)}
        self._begins, self._work = ends[:-1], np.diff(ends)
        columns = [self._work / speeds[way] for way in self.ways]
        self._seconds = np.array(columns).T if columns else np.zeros((len(self._work), 0))
        self._seconds_from = _from_each(self._seconds)
        self._areas: tuple[int, Array, Array] = (-1, self._work, self._work)
        whole = self._seconds_from[0].tolist() if columns else []
        self.speeds: dict[str, float] = {}  # the highest ones per GPU, by type
        for (name, count), seconds in zip(self.ways, whole, strict=True):
            self.speeds[name] = max(self.speeds.get(name, 0.0), 1 / (seconds * count))

    def left(self, epoch: int, done: float, usual: Way, worth: Worth) -> WorkLeft:
        """Return the work that a job in an epoch still needs, and how long its next work takes in each way.

        `done` is its work done so far, and the work of the next hour is what it does in its `usual` way to run.
        """
        if self._areas[0] != worth.jobs:
            areas = (self._seconds * np.array([worth.of(way) for way in self.ways])).min(axis=1)
            self._areas = worth.jobs, areas, _from_each(areas)
        _, areas, areas_from = self._areas
        share, column = min(max((done - self._begins[epoch]) / self._work[epoch], 0.0), 1.0), self.ways[usual]
        ending = self._seconds_from[epoch, column] - share * self._seconds[epoch, column] - _AHEAD
        last = np.searchsorted(-self._seconds_from[epoch + 1 :, column], -max(ending, 0.0)) + epoch + 1
        ahead = self._seconds_from[epoch] - self._seconds_from[last] - share * self._seconds[epoch]
        area = areas_from[epoch] - share * areas[epoch]
        return WorkLeft(float(area), dict(zip(self.ways, ahead.tolist(), strict=True)))


class TypedGrants:
    """A decider that grants GPUs of all types step by step, at every event and every interval.

    A step replaces the GPUs that a job has been granted so far, if any. The job gets those of the remaining
    GPUs, of any type, that gain the most speed per additional weight. Steps are granted in the order of
    `marginal`'s key, in which the efficiency is the gain per weight, relative to the job's highest speed per
    weight. A running job grows, or changes to another type of at least the same total weight, only if that
    saves more time than the `charge` of `marginal`.
    """

    preemptive = True

    def __init__(self, outlook: TypedOutlook, options: AdaptingOptions) -> None:
        self._outlook, self._options = outlook, options
        self._instants = Instants(options.interval)
        self._there: dict[int, None] = {}

    def decide(self, state: State) -> Iterable[Action]:
        """Grant GPUs to the steps in ascending order of key, and keep jobs on their nodes where possible."""
        for job in state.completed:
            self._there.pop(job, None)
        for job in state.arrived:
            self.add(state, job)
        if not self._there:
            return
        nodes = {name: Nodes(state, name) for name in self._outlook.types}
        held = {job: (name, sum(own.held[job].values())) for name, own in nodes.items() for job in own.held}
        left = {job: self._outlook.left(state, job, held.get(job)) for job in self._there}
        granted = self._granted(state, left, held, {name: own.gpus for name, own in nodes.items()})
        spreads: dict[str, dict[int, Spread]] = {}
        for name, own in nodes.items():
            wanted = {job: way[1] for job, way in granted.items() if way[0] == name}
            allowed = {job: [count for kind, count in left[job].seconds if kind == name] for job in wanted}
            spreads[name] = own.spread(wanted, allowed)
        if any(spreads[name] != own.held for name, own in nodes.items()):
            yield Assign(
                {
                    job: (gpus, self._outlook.mode(job, (name, len(gpus))))
                    for name, own in nodes.items()
                    for job, gpus in own.gpus_of(spreads[name]).items()
                }
            )
        yield Wake(self._instants.ask(state.now))

    def add(self, state: State, job: int) -> None:
        """Record a job that has arrived."""
        self._there[job] = None
        self._outlook.add(state, job)

    def _granted(
        self, state: State, left: Mapping[int, WorkLeft], held: Mapping[int, Way], free: dict[str, int]
    ) -> dict[int, Way]:
        """Return the way to run for each job that gets GPUs."""
        ladders = {job: self._ladder(state, job, own, held.get(job)) for job, own in left.items()}
        granted: dict[int, Way] = {}
        queue = [
            (*step, job) for job, ladder in ladders.items() if (step := ladder.next(None, free)) is not None
        ]
        heapify(queue)
        while queue:
            key, way, job = heappop(queue)
            now = granted.get(job)
            step = ladders[job].next(now, free)
            if step is None:
                continue
            if step != (key, way):
                heappush(queue, (*step, job))  # what it was to get has gone
                continue
            if now is not None:
                free[now[0]] += now[1]
            free[way[0]] -= way[1]
            granted[job] = way
            after = ladders[job].next(way, free)
            if after is not None:
                heappush(queue, (*after, job))
        for job, (name, count) in granted.items():  # what is left stays where it is
            had = held.get(job)
            if had and had[0] == name and 0 < had[1] - count <= free[name] and had in left[job].seconds:
                granted[job] = had
                free[name] -= had[1] - count
        return granted

    def _ladder(self, state: State, job: int, left: WorkLeft, held: Way | None) -> "_Ladder":
        weight = left.area * self._options.multipliers.get(state.jobs[job].name, 1.0)
        if self._options.ageing is not None:
            weight /= sqrt(1 + float(state.now - state.jobs[job].release_date) / self._options.ageing)
        worth = {way: self._outlook.worth.of(way) for way in left.seconds}
        return _Ladder(weight, left.seconds, worth, held, self._options)


class _Ladder:
    """The steps of a job from any way to run to the next."""

    def __init__(
        self,
        weight: float,
        seconds: Mapping[Way, float],
        worth: Mapping[Way, float],
        held: Way | None,
        options: AdaptingOptions,
    ) -> None:
        self._weight, self._worth, self._options = weight, worth, options
        self._held = held if held in seconds else None
        paying = (way for way in seconds if self._pays(way, seconds))
        self._speeds = {way: 1 / max(self._counted(way, seconds), LEAST) for way in paying}
        self._first = max((speed / worth[way] for way, speed in self._speeds.items()), default=0.0)

    def _counted(self, way: Way, seconds: Mapping[Way, float]) -> float:
        """Return the seconds that the work ahead takes in the given way, including any necessary restart."""
        return seconds[way] + (0.0 if self._held is None or self._keeps(way) else self._options.charge)

    def _pays(self, way: Way, seconds: Mapping[Way, float]) -> bool:
        """Check whether the job may use the way: it needs no restart, has less weight, or saves enough time."""
        if self._held is None or self._keeps(way) or self._worth[way] < self._worth[self._held]:
            return True
        return seconds[self._held] - seconds[way] > self._options.charge

    def next(self, now: Way | None, free: Mapping[str, int]) -> tuple[float, Way] | None:
        """Return the next step as its key and the way to run after it, or None if there is none."""
        before, speed = (self._worth[now], self._speeds[now]) if now else (0.0, 0.0)
        best: tuple[float, Way] | None = None
        for way, faster in self._speeds.items():
            room = free[way[0]] + (now[1] if now and now[0] == way[0] else 0)
            if way[1] <= room and self._worth[way] > before and faster > speed:
                gain = (faster - speed) / (self._worth[way] - before)
                if best is None or gain > best[0]:
                    best = gain, way
        if best is None:
            return None
        gain, way = best
        kept = self._options.hysteresis if self._keeps(way) else 1.0
        return self._weight / (gain / self._first) ** self._options.exponent / kept, way

    def _keeps(self, way: Way) -> bool:
        """Check whether a way needs no restart: it has the type that the job holds, and no more GPUs."""
        return self._held is not None and way[0] == self._held[0] and way[1] <= self._held[1]


def _from_each(values: Array) -> Array:
    """Return the sum of the values from each index to the end, followed by a 0."""
    sums = np.zeros((len(values) + 1, *values.shape[1:]))
    sums[:-1] = values[::-1].cumsum(axis=0)[::-1]
    return sums
