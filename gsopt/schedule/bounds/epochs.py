"""Epochs: the least seconds that each epoch of an adaptive job takes on each number of GPUs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gsopt.core.numbers.tolerances import SUM, TERM, ULPS
from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.schedule.bounds.work import options

Array = np.ndarray[Any, Any]

#: The most that an epoch saves by ending at a whole second: in seconds, and as a share of its work. At least a
#: second passes, so the largest share is saved when 1.5 s are rounded to 1 s.
_ROUNDED, _ROUNDED_SHARE = 0.5, 1 / 3

#: Seconds of overhead that outweigh what rounding to whole seconds saves between two restarts, see
#: `EpochTimes`.
_PAYING = 2.0

#: Number of GPUs whose time costs as much as the job's own time, for the weights of epochs. Any number is
#: valid; this one is the best for the workloads of Pollux and Sia.
_OWN_GPUS = 8.0


@dataclass(frozen=True, eq=False)
class EpochTimes:
    """The least seconds of each epoch, for all jobs of one kind.

    In each epoch, a job is at most as fast as its highest true speed over all placements and allowed batches.
    Its progress begins when the overhead of its first start is over. If `Agents.whole_seconds` holds, an epoch
    ends a whole number of seconds, and at least one, after the job last tuned itself. Rounding to whole seconds
    can save up to half a second each time. How these savings are counted depends on how jobs are interrupted:

    - *Costly restarts.* Every start, resize and change of GPUs or mode that may change the number of GPUs costs
      at least two seconds, and no job is ever slower than on unshared GPUs. Let a visit be the time between two
      such changes. An epoch that lasts x seconds without rounding takes at least max(1, x - 1/2) seconds if it
      begins and ends in one visit, and is counted with this number. An epoch that began in an earlier visit
      saves at most one more second, and an epoch that is not over when the visit ends is at most one second
      further than counted. The overhead at the beginning of the visit covers both, since the job counts as
      running on the same GPUs during this overhead. The first visit begins with a whole epoch, so one second
      suffices there (`advance`), and the rest of the first overhead delays the job.
    - *Whole seconds throughout.* If, in addition, all decisions fall on whole seconds and all overheads take
      whole seconds, then every epoch inside a visit also takes a whole number of seconds: x - 1/2, rounded up.
    - *Any other case.* Rounding saves time only at the end of an epoch: at most half a second at the current
      speed, and at most a third of the work that was left. The epoch therefore counts as shorter by the same
      share on every number of GPUs: half a second's share at its highest speed, but at most a third.

    An eviction may undo progress. Only the furthest progress of a job counts, since after an eviction it
    completes an epoch no earlier than it would have done without one.

    Attributes
    ----------
    counts
        The numbers of GPUs on which the job may run, in ascending order; for each GPU type if the job
        distinguishes types.
    seconds
        The least seconds by epoch and number of GPUs; infinite where the job cannot run.
    advance
        The seconds of the first start's overhead that the counted seconds already include.
    types
        The GPU type of each entry of `counts`; empty if all GPUs are alike for the job.
    """

    counts: Array
    seconds: Array
    advance: float
    types: tuple[str, ...] = ()

    @cached_property
    def columns(self) -> Mapping[tuple[str, int], int]:
        """Index of every type and number of GPUs; the type is empty if all GPUs are alike."""
        counts = self.counts.tolist()
        return {
            way: column for column, way in enumerate(zip(self.types or [""] * len(counts), counts, strict=True))
        }

    @cached_property
    def weights(self) -> Array:
        """Least GPU-seconds of every epoch, if the job's own time costs as much as eight GPUs."""
        found: Array = ((self.counts + _OWN_GPUS) * self.seconds).min(axis=1)
        return found

    @cached_property
    def height(self) -> float:
        """Least seconds of all epochs together, each on the GPUs where it is fastest; rounded down."""
        rounding = TERM * (ULPS + len(self.seconds))
        return float(self.seconds.min(axis=1).sum() * (1 - rounding))

    def speeds(self, weights: Array) -> Array:
        """Return the highest speed on each number of GPUs, for epochs whose lengths are the given weights.

        In each epoch, the weighted work of the job grows at the weight divided by the seconds of the epoch. It
        never grows faster than the highest of these speeds, so, for any weights, a job with these speeds and
        without epochs is at least as fast.
        """
        found: Array = (weights[:, None] / self.seconds).max(axis=0)
        return found


def epoch_times(scenario: Scenario, round_length: float | None = None) -> dict[str, EpochTimes]:
    """Compute the least seconds of the epochs of all adaptive jobs that can run, by name of the job.

    Parameters
    ----------
    scenario
        The scenario, whose jobs may be adaptive.
    round_length
        Seconds between decisions if every schedule decides in rounds, as for `gsopt.simulation.simulate`.
    """
    found = _Times(scenario, round_length)
    jobs = [job for job in scenario.workload.jobs if job.model in scenario.applications]
    kinds: dict[_Kind, list[Job]] = {}
    for job in jobs:
        kinds.setdefault(found.kind(job), []).append(job)
    times = {kind: found.of(own) for kind, own in kinds.items()}
    pairs = ((job.name, times[found.kind(job)]) for job in jobs)
    return {name: known for name, known in pairs if known is not None}


#: A GPU type, empty if all are alike; a number of GPUs; and a batch size, None if the job chooses it.
_Option = tuple[str, int, int | None]

#: Model, the user's batch size if it counts, and options; one with a chosen batch size covers those with fixed
#: ones.
_Kind = tuple[str, int | None, frozenset[_Option]]


class _Times:
    def __init__(self, scenario: Scenario, round_length: float | None) -> None:
        self._scenario = scenario
        self._machines = scenario.cluster.machines
        self._moves_in_whole_seconds = _moves_in_whole_seconds(scenario, round_length)

    def kind(self, job: Job) -> _Kind:
        own = self._options(job)
        needed = frozenset(each for each in own if each[2] is None or (*each[:2], None) not in own)
        return job.model, self._users_batch(job), needed

    def of(self, alike: Sequence[Job]) -> EpochTimes | None:
        """Return the times of jobs of one kind, or None if they cannot run."""
        model, users_batch = alike[0].model, self._users_batch(alike[0])
        course = Course(self._scenario.applications[model], self._scenario.agents, users_batch)
        highest: dict[tuple[str, int], Array] = {}
        for kind, count, batch in {option for job in alike for option in self._options(job)}:
            speeds = course.on(kind).highest_speeds(count, batch, largest=self._largest(kind))
            highest[kind, count] = np.maximum(highest.get((kind, count), 0.0), speeds)
        ways = sorted(way for way, speeds in highest.items() if speeds.min() > 0)
        if not ways:
            return None
        ends = [course.work_at(epoch) for epoch in range(course.application.epochs + 1)]
        seconds = np.diff(ends)[:, None] / np.array([highest[way] for way in ways]).T
        counted, advance = self._counted(self._scenario.overhead(alike[0]), seconds)
        types, counts = zip(*ways, strict=True)
        counted = counted[counted.min(axis=1) > 0]
        return EpochTimes(np.array(counts), counted, advance, types if any(types) else ())

    def _largest(self, kind: str) -> int | None:
        """Return the number of GPUs of the largest machine, among those of a type or among all."""
        return max((each.gpus for each in self._machines if kind in ("", each.gpu_type)), default=None)

    def _options(self, job: Job) -> set[_Option]:
        cluster = self._scenario.cluster
        return {
            (kind, count, job.batch_in(mode))
            for mode, count, _ in options(job)
            for kind in kinds_in(self._scenario, job, mode)
            if count <= cluster.room(kind)
        }

    def _users_batch(self, job: Job) -> int | None:
        return job.batch_size if self._scenario.agents.progress == "samples" else None

    def _counted(self, overhead: Overhead, seconds: Array) -> tuple[Array, float]:
        """Return the counted seconds of epochs, and the seconds of the first overhead that they include."""
        if not self._scenario.agents.whole_seconds:
            return seconds, 0.0
        if min(overhead.start, overhead.resize) < _PAYING or not _is_interrupted_by_restarts(self._scenario):
            share = _ROUNDED / np.maximum(seconds.min(axis=1, keepdims=True), _ROUNDED / _ROUNDED_SHARE)
            return seconds * (1 - share), 0.0
        counted = seconds - _ROUNDED
        paid = (overhead.start, overhead.stop, overhead.resize)
        if self._moves_in_whole_seconds and all(map(float.is_integer, paid)):
            counted = np.ceil(seconds * (1 - SUM) - _ROUNDED)
        return np.maximum(counted, 1.0), 1.0


def kinds_in(scenario: Scenario, job: Job, mode: str) -> Sequence[str]:
    """Return the GPU types on which a job may run in a mode, or one empty name if all are alike for it."""
    if not scenario.tells_types(job):
        return [""]
    own = job.gpu_type_in(mode)
    return [own] if own else scenario.cluster.gpu_types


def _is_interrupted_by_restarts(scenario: Scenario) -> bool:
    """Check whether only restarts change a job's number of GPUs, and sharing never slows a job down."""
    speed = scenario.speed
    is_alone = scenario.share_limit == 1 or not (
        speed.interference or speed.groups or speed.default_interference > 1
    )
    return scenario.restarts != "machines" and is_alone and not speed.gpu_types


def _moves_in_whole_seconds(scenario: Scenario, round_length: float | None) -> bool:
    """Check whether jobs start, move and stop only at whole seconds of the scenario's clock."""
    is_undisturbed = not scenario.events and not scenario.capacity_changes
    return round_length is not None and float(round_length).is_integer() and is_undisturbed
