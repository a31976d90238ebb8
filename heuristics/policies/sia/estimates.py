"""Estimates of Sia: the goodput of jobs in each configuration, and the cost of their restarts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from types import MappingProxyType
from typing import Any, Literal

from gsopt.core.errors import Unsupported
from gsopt.problems.configuration import MOST_GOODPUT, Shape
from gsopt.scenario.adaptive.limits import Limits
from gsopt.scenario.adaptive.view import TraineeView
from gsopt.scenario.job import Job
from gsopt.simulation.parts.inventory import GpuKind
from gsopt.simulation.parts.ways import ways_of
from gsopt.simulation.policy import State
from heuristics.policies.sia.configuring import JobHistory
from heuristics.policies.sia.nodes import NodePool

#: Seconds of a restart that the authors' program takes for models of theirs.
RESTART_TIMES: Mapping[str, float] = MappingProxyType(
    {"bert": 120.0, "deepspeech2": 25.0, "imagenet": 250.0, "yolov3": 45.0}
)

#: Which batch is taken to be the largest of an adaptive job.
Batches = Literal["user", "model"]


@dataclass(eq=False)
class Estimated:
    """Sia's knowledge about jobs. The options are those of `sia`."""

    pool: NodePool
    growth: float | None
    most_gpus: int
    restart_time: float
    restart_times: Mapping[str, float]
    batches: Batches
    _speeds: dict[int, Mapping[Shape, float]] = field(default_factory=dict)
    _modes: dict[int, Mapping[Shape, str]] = field(default_factory=dict)

    def enter(self, state: State, job: int) -> list[Shape]:
        """Accept a new job, and return the configurations in which it may ever run.

        Raises
        ------
        Unsupported
            The job can run in no configuration.
        """
        item, is_adaptive = state.jobs[job], state.trainee(job) is not None
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
        self._speeds[job] = {
            shape: 1.0 if is_adaptive else float(self._speed(state, job, shape)) for shape in found
        }
        return found

    def leave(self, job: int) -> None:
        """Forget a job that has completed."""
        del self._modes[job], self._speeds[job]

    def goodputs(self, state: State, job: int, history: JobHistory) -> Mapping[Shape, float]:
        """Return the goodput of a job in each configuration that it may have now, relative to the least one.

        For a rigid job, the goodput on the slowest kind counts as its number of GPUs.
        """
        trainee, speeds = state.trainee(job), self._speeds[job]
        if _is_rigid(speeds):
            return _relative(speeds, unit=next(iter(speeds)).gpus)
        if trainee is None:
            allowed = self._allowed(speeds, history.most_gpus)
            return _relative({shape: speeds[shape] for shape in allowed})
        return self._expected(state.jobs[job], trainee, self._allowed(speeds, trainee.most_gpus))

    def _allowed(self, shapes: Collection[Shape], had: int) -> list[Shape]:
        """Return the allowed configurations of a job that has had `had` GPUs.

        The smallest ones are always allowed.
        """
        fewest = min(shape.gpus for shape in shapes)
        most = inf if self.growth is None else max(self.growth * had, fewest)
        return [shape for shape in shapes if shape.gpus <= most]

    def _expected(self, item: Job, trainee: TraineeView, shapes: Sequence[Shape]) -> Mapping[Shape, float]:
        """Return the expected goodput of an adaptive job, initially 1 on its smallest configurations."""
        model, gradient, expected = trainee.model, trainee.gradient, dict[Shape, float]()
        if model is not None and gradient is not None:
            limits = self._limits(item, trainee)
            nodes, gpus = [shape.nodes for shape in shapes], [shape.gpus for shape in shapes]
            goodputs = model.goodput(nodes, gpus, gradient, limits).goodput.tolist()
            expected = {shape: each for shape, each in zip(shapes, goodputs, strict=True) if each > 0}
        fewest = min(shape.gpus for shape in shapes)
        return _relative(expected or {shape: 1.0 for shape in shapes if shape.gpus == fewest})

    def _limits(self, item: Job, trainee: TraineeView) -> Limits:
        limits = trainee.application.limits
        if self.batches == "user" and item.batch_size is not None:
            return limits.model_copy(update={"most_batch": item.batch_size})
        return limits

    def restart_factor(self, state: State, job: int, history: JobHistory) -> float:
        """Return the fraction of its goodput that a job would keep after a restart.

        A job keeps all of its goodput if it is younger than the seconds of a restart. For a rigid job, this
        test uses GPU-seconds instead of the age.
        """
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
    """Return goodputs relative to the least one, which becomes `unit`."""
    least = min(goodputs.values())
    return {shape: min(unit * goodput / least, MOST_GOODPUT) for shape, goodput in goodputs.items()}


def _menu(job: Job, kind: GpuKind) -> Mapping[int, str]:
    """Return the mode for each number of GPUs of a kind: the one that tunes the batch, or else the fastest."""
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
