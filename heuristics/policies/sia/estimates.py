"""Estimates: Sia's estimates of jobs' goodputs in each configuration, and of their restart costs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from types import MappingProxyType
from typing import Any, Literal

from gsopt.core.errors import Unsupported
from gsopt.problems.configuration import MOST_GOODPUT, Shape
from gsopt.scenario.adaptive.projection import projected_goodput
from gsopt.scenario.adaptive.view import TraineeView
from gsopt.scenario.job import Job
from gsopt.simulation.parts.inventory import GpuKind
from gsopt.simulation.parts.ways import ways_of
from gsopt.simulation.policy import State
from heuristics.policies.sia.configuring import JobHistory
from heuristics.policies.sia.nodes import NodePool

#: Seconds per restart that the authors' program assumes for its models.
RESTART_TIMES: Mapping[str, float] = MappingProxyType(
    {"bert": 120.0, "deepspeech2": 25.0, "imagenet": 250.0, "yolov3": 45.0}
)

#: Which batch size counts as the largest of an adaptive job: its user's, or its model's limit.
Batches = Literal["user", "model"]


@dataclass(eq=False)
class Estimated:
    """Sia's estimates of goodputs and restart costs, with options as in `sia`."""

    pool: NodePool
    growth: float | None
    most_gpus: int
    restart_time: float
    restart_times: Mapping[str, float]
    batches: Batches
    _speeds: dict[int, Mapping[Shape, float]] = field(default_factory=dict)
    _modes: dict[int, Mapping[Shape, str]] = field(default_factory=dict)

    def enter(self, state: State, job: int) -> list[Shape]:
        """Record a new job, and return the configurations in which it may ever run.

        Raises
        ------
        Unsupported
            The job cannot run in any configuration.
        """
        item, trainee = state.jobs[job], state.trainee(job)
        menus = {name: _menu(item, kind) for name, kind in self.pool.kinds.items()}
        found = [
            shape
            for shape in self.pool.all_shapes()
            if shape.gpus in menus[shape.type] and shape.gpus <= self.most_gpus
        ]
        if not found:
            own = (self.pool.shape(name, count) for name, menu in menus.items() for count in menu)
            found = [shape for shape in own if shape is not None]
        if not found:
            rule = "runs on no number of GPUs of one kind, as this policy requires"
            raise Unsupported(f"job {item.name!r} {rule}")
        self._modes[job] = {shape: menus[shape.type][shape.gpus] for shape in found}
        knows = trainee is None or (_is_rigid(found) and bool(trainee.application.gpu_types))
        self._speeds[job] = {shape: float(self._speed(state, job, shape)) if knows else 1.0 for shape in found}
        return found

    def leave(self, job: int) -> None:
        """Forget a job that has completed."""
        del self._modes[job], self._speeds[job]

    def goodputs(self, state: State, job: int, history: JobHistory) -> Mapping[Shape, float]:
        """Return a job's goodput in each configuration that it may have now, relative to the smallest goodput.

        For a rigid job, the smallest goodput counts as the job's number of GPUs instead of 1.
        """
        trainee, speeds = state.trainee(job), self._speeds[job]
        if _is_rigid(speeds):
            return _relative(speeds, unit=next(iter(speeds)).gpus)
        if trainee is None:
            allowed = self._allowed(speeds, history.most_gpus)
            return _relative({shape: speeds[shape] for shape in allowed})
        return self._expected(state.jobs[job], trainee, self._allowed(speeds, trainee.most_gpus))

    def _allowed(self, shapes: Collection[Shape], had: int) -> list[Shape]:
        """Return the allowed configurations of a job that has had at most `had` GPUs.

        The smallest configurations are always allowed.
        """
        fewest = min(shape.gpus for shape in shapes)
        most = inf if self.growth is None else max(self.growth * had, fewest)
        return [shape for shape in shapes if shape.gpus <= most]

    def _expected(self, item: Job, trainee: TraineeView, shapes: Sequence[Shape]) -> Mapping[Shape, float]:
        """Return an adaptive job's expected relative goodputs, at first 1 in its smallest configurations."""
        most_batch = item.batch_size if self.batches == "user" else None
        expected: dict[Shape, float] = {}
        for name in dict.fromkeys(shape.type for shape in shapes):
            own = [shape for shape in shapes if shape.type == name]
            gpu_type = self.pool.kinds[name].gpu_type
            nodes, gpus = [shape.nodes for shape in own], [shape.gpus for shape in own]
            goodputs = projected_goodput(trainee, gpu_type, nodes, gpus, most_batch)
            if goodputs is not None:
                pairs = zip(own, goodputs.tolist(), strict=True)
                expected |= {shape: goodput for shape, goodput in pairs if goodput > 0}
        fewest = min(shape.gpus for shape in shapes)
        return _relative(expected or {shape: 1.0 for shape in shapes if shape.gpus == fewest})

    def restart_factor(self, state: State, job: int, history: JobHistory) -> float:
        """Return the fraction of its goodput that a job would keep after a restart, as described in `sia`."""
        item = state.jobs[job]
        seconds = self.restart_times.get(item.model, self.restart_time)
        age = float(state.now - type(state.now)(item.release_date))
        lived = float(state.service(job)) if _is_rigid(self._speeds[job]) else age
        if lived < seconds or not age + seconds:
            return 1.0
        return max(age - history.restarts * seconds, 0.0) / (age + seconds)

    def mode(self, job: int, shape: Shape) -> str:
        """Return the mode in which a job runs in a configuration."""
        return self._modes[job][shape]

    def _speed(self, state: State, job: int, shape: Shape) -> Any:
        """Return the speed of a job in a configuration, on GPUs as close together as possible."""
        return state.rate(job, self.pool.example(shape) or shape.gpus, self._modes[job][shape])


def _relative(goodputs: Mapping[Shape, float], unit: int = 1) -> Mapping[Shape, float]:
    """Return goodputs relative to the smallest one, which becomes `unit`."""
    least = min(goodputs.values())
    return {shape: min(unit * goodput / least, MOST_GOODPUT) for shape, goodput in goodputs.items()}


def _menu(job: Job, kind: GpuKind) -> Mapping[int, str]:
    """Return the mode for each number of GPUs of one kind: one that tunes the batch, or else the fastest."""
    fitting = [
        mode
        for mode in job.speeds
        if job.gpu_type_in(mode) in ("", kind.gpu_type)
        and (kind.memory is None or (job.memory_in(mode) or 0) <= kind.memory)
    ]
    tuning = next((mode for mode in fitting if job.tunes_in(mode)), None)
    if tuning is not None:
        return dict.fromkeys(sorted(job.speeds[tuning]), tuning)
    if not fitting:
        return {}
    ways = ways_of(job, memory=kind.memory, gpu_type=kind.gpu_type)
    return {count: ways.modes[count] for count, speed in enumerate(ways.speeds.tolist()) if speed > 0}


def _is_rigid(shapes: Iterable[Shape]) -> bool:
    return len({shape.gpus for shape in shapes}) == 1
