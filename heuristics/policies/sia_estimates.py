"""Estimates of Sia: what is known of the goodput of a job in each configuration, and of its restarts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from gsopt.errors import Unsupported
from gsopt.job import Job
from gsopt.problems.configuration import Shape
from gsopt.simulation import State
from gsopt.simulation.deciders.configuring.configuring import History
from gsopt.simulation.deciders.configuring.park import Park
from gsopt.simulation.deciders.ways import Ways, ways_of

#: Seconds of a restart that the authors' program takes for models of theirs.
RESTART_TIMES: Mapping[str, float] = MappingProxyType(
    {"bert": 120.0, "deepspeech2": 25.0, "imagenet": 250.0, "yolov3": 45.0}
)

#: Least relative goodput: what is less counts as no goodput.
_LEAST = 1e-4


@dataclass(eq=False)
class Estimated:
    """What Sia knows of jobs.

    Parameters
    ----------
    park
        The nodes by kind.
    growth
        How many times the most GPUs that it has had a job may have; any number when None.
    most_gpus
        Most GPUs of a job.
    restart_time, restart_times
        Seconds of a restart, and those of some models.
    """

    park: Park
    growth: float | None
    most_gpus: int
    restart_time: float
    restart_times: Mapping[str, float]
    _speeds: dict[int, Mapping[Shape, float]] = field(default_factory=dict)
    _ways: dict[int, Mapping[str, Ways]] = field(default_factory=dict)

    def enter(self, state: State, job: int) -> list[Shape]:
        """Look at a job that has come, and give the configurations in which it may ever run.

        Raises
        ------
        Unsupported
            There are none.
        """
        item = state.jobs[job]
        ways = {
            name: ways_of(item, memory=kind.memory, gpu_type=kind.gpu_type)
            for name, kind in self.park.kinds.items()
            if _suits(item, kind.gpu_type, kind.memory)
        }
        counts = {name: _counts(each) for name, each in ways.items()}
        found = [
            shape
            for shape in self.park.all_shapes()
            if shape.gpus in counts.get(shape.type, ()) and shape.gpus <= self.most_gpus
        ]
        if not found:
            own = (self.park.shape(name, count) for name, some in counts.items() for count in some)
            found = [shape for shape in own if shape is not None]
        if not found:
            raise Unsupported(
                f"job {item.name!r} runs on no number of GPUs of one kind, as this policy wants it"
            )
        self._ways[job] = ways
        self._speeds[job] = {shape: float(self._speed(state, job, shape)) for shape in found}
        return found

    def leave(self, job: int) -> None:
        """Forget a job that has gone."""
        del self._ways[job], self._speeds[job]

    def goodputs(self, state: State, job: int, history: History) -> Mapping[Shape, float]:
        """Give the goodput of a job in each configuration that it may have now, relative to the least one.

        That of a rigid job is its number of GPUs on the slowest kind.
        """
        del state
        speeds = self._speeds[job]
        fewest = min(shape.gpus for shape in speeds)
        most = max(shape.gpus for shape in speeds) if self.growth is None else self.growth * history.most_gpus
        allowed = {shape: speed for shape, speed in speeds.items() if shape.gpus <= max(most, fewest)}
        least = min(allowed.values())
        unit = fewest if _is_rigid(speeds) else 1
        return {shape: unit * speed / least for shape, speed in allowed.items()}

    def restart_factor(self, state: State, job: int, history: History) -> float:
        """Give the part of its goodput that a job would have after a restart.

        Of its life a rigid job counts the GPU-seconds that it has held to tell whether it is young.
        """
        item = state.jobs[job]
        seconds = self.restart_times.get(item.model, self.restart_time)
        age = float(state.now - type(state.now)(item.release_date))
        lived = float(state.service(job)) if _is_rigid(self._speeds[job]) else age
        if lived < seconds or not age + seconds:
            return 1.0
        return max(age - history.restarts * seconds, 0.0) / (age + seconds)

    def mode(self, job: int, shape: Shape) -> str:
        """Give the mode in which a job runs in a configuration."""
        return self._ways[job][shape.type].modes[shape.gpus]

    def _speed(self, state: State, job: int, shape: Shape) -> Any:
        """Give the speed of a job on GPUs of a kind that stand as close together as they can."""
        gpus = self.park.example(shape)
        return state.rate(job, gpus or shape.gpus, self._ways[job][shape.type].modes[shape.gpus])


def _suits(job: Job, gpu_type: str, memory: int | None) -> bool:
    """Tell whether some mode of a job suits a kind of GPU."""
    return any(
        job.gpu_type_in(mode) in ("", gpu_type) and (memory is None or (job.memory_in(mode) or 0) <= memory)
        for mode in job.speeds
    )


def _counts(ways: Ways) -> list[int]:
    return [count for count, speed in enumerate(ways.speeds.tolist()) if speed > 0]


def _is_rigid(shapes: Iterable[Shape]) -> bool:
    return len({shape.gpus for shape in shapes}) == 1
