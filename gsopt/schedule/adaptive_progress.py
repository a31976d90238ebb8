"""Adaptive progress: an adaptive job's progress under a schedule, computed independently by the judge.

Progress is divided into stints of constant speed. A stint ends when an epoch ends, when the job tunes its batch
size (which happens at regular intervals), when its GPUs or partners change, or when it loses work. The only
code that this module shares with the simulation of adaptive jobs is that for the measurements of the model
(`gsopt.scenario.adaptive.application`), for the throughput model that the job fits to its steps
(`gsopt.scenario.adaptive.fitting`), and for the batch size with the best goodput under that model
(`gsopt.scenario.adaptive.throughput`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, nextafter
from typing import Any

from gsopt.core.errors import shorten
from gsopt.core.numbers.tolerances import SECOND_DECIMALS
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.fitting import Measurement, fit
from gsopt.scenario.adaptive.gradient import Gradient
from gsopt.scenario.adaptive.throughput import ThroughputModel
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario


class _Impossible(Exception):
    """Raised if a job was not measured on the GPUs on which it is supposed to run."""


@dataclass
class _Stint:
    """A stretch of work on the same GPUs, with the same batch size and at constant speed."""

    shape: tuple[int, ...]  # GPUs on each machine
    size: int | None  # samples of a fixed batch; None where the job chooses it
    local: int  # samples that a GPU processes at once
    steps: int  # accumulations before the step
    slowdown: Any  # due to other jobs on its GPUs, and to the types of the GPUs
    truth: Application  # measurements on GPUs of this type
    gpu_type: str  # empty if the job does not distinguish types
    known: tuple[int, Gradient | None]  # observations on which the choice of the batch was based
    begin: Any = 0.0
    end: Any = inf  # unless something comes between
    speed: Any = 0.0  # progress per second
    ends_epoch: bool = False  # whether the epoch is over at the end

    @property
    def samples(self) -> int:
        return sum(self.shape) * self.local * (self.steps + 1)


class AdaptiveProgress:
    """The progress of an adaptive job.

    If the job cannot run as the schedule says, it stops for good, and `broken` states why.
    """

    def __init__(self, job: Job, scenario: Scenario) -> None:
        self._job, self._agents = job, scenario.agents
        self._truth: Application = scenario.applications[job.model]
        size = job.batch_size or self._truth.limits.initial_batch
        goals = [self._truth.progress_at(epoch + 1) for epoch in range(self._truth.epochs)]
        if self._agents.progress == "samples":
            goals = [self._truth.iterations(size, epoch) * size for epoch in range(self._truth.epochs)]
        self._goals = [0.0, *goals]  # progress at the beginning, and at the end of each epoch
        self._done, self._epoch, self._now = 0.0, 0, 0.0
        self._stint: _Stint | None = None
        self._completed_at: float | None = None
        self._gradient: Gradient | None = None  # seen last
        self._steps_seen: dict[str, dict[tuple[int, int, int], Measurement]] = {}  # by type
        self._models: dict[tuple[str, int], ThroughputModel] = {}  # by type and number of steps
        self.broken = ""

    @property
    def share(self) -> float:
        """The fraction of the job's work that is complete."""
        return float(self._progress(self._now) / self._goals[-1])

    @property
    def completed_at(self) -> float | None:
        """The job's completion time, or None if the job is not complete or cannot run."""
        return None if self.broken else self._completed_at

    def run(
        self,
        shape: Sequence[int],
        mode: str,
        time: Any,
        works_from: Any,
        slowdown: Any,
        types: Collection[str] = (),
    ) -> None:
        """Run the job from `time` on.

        `shape` lists its numbers of GPUs on its machines, and `types` the types of these GPUs. The job makes
        progress from `works_from` on, at a speed that is divided by `slowdown`.
        """
        self._halt(time)
        if self._completed_at is not None:
            self.broken = f"it is complete at {self._completed_at}"
        if self.broken:
            return
        placed, size = tuple(shape), self._job.batch_in(mode)
        try:
            gpu_type = self._only(types) if self._truth.gpu_types else ""
            truth = self._truth.on(gpu_type)
            batch = self._batch(truth, gpu_type, placed, size)
            self._stint = _Stint(placed, size, *batch, slowdown, truth, gpu_type, self._known)
            self._work(max(time, works_from))
        except _Impossible as rule:
            self._stint, self.broken = None, str(rule)

    @staticmethod
    def _only(types: Collection[str]) -> str:
        """Return the GPU type, which must be unique for a job whose model was measured on several types."""
        if len(types) > 1:
            raise _Impossible(f"gpus: {shorten(sorted(types))}: must be of one type")
        return next(iter(types))

    def slow(self, slowdown: Any, time: Any) -> None:
        """Set the slowdown due to partners and GPU types from `time` on. An unchanged value has no effect."""
        if self._stint is not None and slowdown != self._stint.slowdown:
            self._stint = self._halt(time)
            if self._stint is not None:
                self._stint.slowdown = slowdown
                self._work(max(time, self._stint.begin))

    def follow(self, time: Any) -> None:
        """Advance to a time, through all stints that end by then."""
        while self._stint is not None and self._stint.end <= time:
            self._turn(self._stint)
        self._now = time

    def lose(self, share: Any, time: Any) -> None:
        """Undo a fraction of the job's total work, and return to the epoch in which the job then is."""
        self._stint = self._halt(time)
        self._done = max(self._done - share * self._goals[-1], 0.0)
        self._epoch = max(epoch for epoch in range(self._epoch + 1) if self._goals[epoch] <= self._done)
        if self._stint is not None:
            self._work(max(time, self._stint.begin))

    def stop(self, time: Any, excused: Any) -> None:
        """Stop the job at `time`, or at the end of its stint if that is at most `excused` seconds later."""
        self.follow(time)
        if self._stint is not None and self._stint.end - time <= excused:
            time = self._stint.end
        self._halt(time)

    def _halt(self, time: Any) -> _Stint | None:
        """Record progress and observations up to a time, then end the stint and return it."""
        self.follow(time)
        stint, self._stint, done = self._stint, None, self._progress(time)
        if stint is not None and time > stint.begin:
            self._see(stint)
        self._done = done
        return stint

    def _turn(self, stint: _Stint) -> None:
        """Handle the end of a stint, at which its epoch ends or the job tunes its batch size."""
        self._see(stint)
        self._done = self._goals[self._epoch + 1] if stint.ends_epoch else self._progress(stint.end)
        self._epoch += stint.ends_epoch
        self._now = stint.end
        if self._epoch == self._truth.epochs:
            self._completed_at, self._stint = stint.end, None
            return
        if stint.known != self._known:
            batch = self._batch(stint.truth, stint.gpu_type, stint.shape, stint.size)
            stint.known, (local, steps) = self._known, batch
            if stint.truth.step_time(stint.shape, local) is not None:  # else it keeps the one that it has
                stint.local, stint.steps = local, steps
        self._work(stint.end)

    def _progress(self, time: Any) -> Any:
        stint = self._stint
        if stint is None or time <= stint.begin:
            return self._done
        return min(self._done + stint.speed * (time - stint.begin), self._goals[self._epoch + 1])

    def _work(self, begin: Any) -> None:
        """Restart the stint at a time, and compute its speed and when it ends if nothing changes."""
        stint, truth = self._stint, self._truth
        assert stint is not None  # noqa: S101 - whoever works has one
        step, sync = self._times(stint)
        seconds = (step + stint.steps * (step - sync)) * truth.slowdown
        gain: float = stint.samples
        if self._agents.progress == "statistical":
            sqr, var = truth.gradient(stint.samples, self._epoch)
            gain = (var + sqr) / (var / (stint.samples / truth.limits.initial_batch) + sqr)
        stint.begin, stint.speed = begin, gain / seconds / stint.slowdown
        left = (self._goals[self._epoch + 1] - self._done) / stint.speed
        whole = max(round(round(left, SECOND_DECIMALS)), 1)
        span = whole if self._agents.whole_seconds else left
        over = max(begin + span, nextafter(begin, inf))
        tuned = (floor(begin / self._agents.interval) + 1) * self._agents.interval
        stint.ends_epoch, stint.end = over <= tuned, float(min(over, tuned))

    @property
    def _known(self) -> tuple[int, Gradient | None]:
        return sum(map(len, self._steps_seen.values())), self._gradient

    def _times(self, stint: _Stint) -> tuple[float, float]:
        """Return the duration of a step and of the gradient exchange in it, in seconds."""
        times = stint.truth.step_time(stint.shape, stint.local)
        if times is None:
            rule = f"must be placements of {self._truth.name} measured with {stint.local} samples per GPU"
            raise _Impossible(f"shape: {shorten(list(stint.shape))}: {rule}")
        return times

    def _see(self, stint: _Stint) -> None:
        """Record the measurement of the step, unless it is already known, and the current gradient."""
        where = len(stint.shape), sum(stint.shape), stint.local
        seen = self._steps_seen.setdefault(stint.gpu_type, {})
        seen.setdefault(where, Measurement(*where, *self._times(stint)))
        self._gradient = self._truth.gradient(stint.samples, self._epoch)

    def _batch(
        self, truth: Application, gpu_type: str, shape: tuple[int, ...], size: int | None
    ) -> tuple[int, int]:
        """Return the samples that a GPU processes at once, and the number of accumulations per step."""
        gpus, limits = sum(shape), truth.limits
        if self._agents.memory == "placement" and (most := truth.most_local(shape)):
            limits = limits.model_copy(update={"most_local": most})
        seen = list(self._steps_seen.get(gpu_type, {}).values())
        if size is None and self._gradient is not None and seen:
            if (gpu_type, len(seen)) not in self._models:
                self._models[gpu_type, len(seen)] = fit(seen, tolerance=self._agents.tolerance)
            best = self._models[gpu_type, len(seen)].goodput(len(shape), gpus, self._gradient, limits)
            local, steps = int(best.local), int(best.steps)
        else:
            whole = size or max(limits.initial_batch, limits.least_local * gpus)
            each = ceil(whole / gpus)
            alone = gpus == 1 and whole > limits.initial_batch  # the noise of one gradient cannot be told
            steps = max(ceil(each / limits.most_local) - 1, int(alone))
            local = ceil(each / (steps + 1))
        return min(local, limits.most_batch // (gpus * (steps + 1))), steps
