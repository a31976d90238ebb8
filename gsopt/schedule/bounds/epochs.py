"""Epochs: the minimum duration of each epoch of an adaptive job on every number of GPUs."""

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

#: The most that an epoch can save by ending at a whole second: in seconds, and as a fraction of its work. An
#: epoch takes at least one second, so the largest fraction is saved when 1.5 s are rounded to 1 s.
_ROUNDED, _ROUNDED_SHARE = 0.5, 1 / 3

#: Overhead, in seconds, that outweighs what rounding to whole seconds can save between two restarts (see
#: `EpochTimes`).
_PAYING = 2.0

#: GPU-seconds that each second of the job's own time costs in the weights of epochs. Any number is valid;
#: this one gives the best bounds for the workloads of Pollux and Sia.
_OWN_GPUS = 8.0


@dataclass(frozen=True, eq=False)
class EpochTimes:
    """The minimum duration of each epoch, for all jobs of one kind.

    In each epoch, a job is at most as fast as its highest true speed over all placements and allowed batch
    sizes. It makes no progress before the overhead of its first start is over. If `Agents.whole_seconds` holds,
    each epoch ends a whole number of seconds (at least one) after the job last started work, moved, tuned its
    batch size or changed its speed. This rounding can save up to half a second per epoch. How the savings are
    counted depends on how jobs can be interrupted:

    - *Costly restarts.* Every start and resize, and every change of GPUs or mode that may change the number of
      GPUs, costs at least two seconds, and neither partners nor slower GPU types ever slow a job down. Call the
      time between two such changes a visit. Within one visit, an epoch that would last x seconds without
      rounding takes at least max(1, x - 1/2) seconds, and counts as that long. If an epoch extends over several
      visits, each of its parts takes at most one second less than is counted for the part. A visit has at most
      two such parts, one at its beginning and one at its end. The overhead at its beginning covers both
      seconds, because the job counts as running on the visit's GPUs during this overhead. The first visit
      begins with a new epoch, so one second is enough there (`advance`), and the rest of the first overhead
      delays the job.
    - *Whole seconds throughout.* If, in addition, all decisions are made at whole seconds and all overheads
      take whole seconds, then every epoch that begins and ends in the same visit takes a whole number of
      seconds: x - 1/2, rounded up, but at least 1.
    - *Any other case.* Rounding saves time only at the end of an epoch: at most half a second at the current
      speed, and at most a third of the work that was left. The bound therefore shortens the epoch by the same
      fraction for every number of GPUs: half a second divided by the epoch's shortest duration, but at most one
      third.

    An eviction may undo progress. Only the furthest progress of a job counts, because after an eviction the job
    completes an epoch no earlier than it would have done without the eviction.

    Attributes
    ----------
    counts
        The numbers of GPUs on which the job may run, in ascending order. If the job distinguishes GPU types,
        they are listed separately for each type.
    seconds
        The minimum duration in seconds, by epoch and entry of `counts`.
    advance
        The part of the first start's overhead, in seconds, that `seconds` already includes.
    types
        GPU types, one per entry of `counts`; empty if all GPUs are alike for the job.
    """

    counts: Array
    seconds: Array
    advance: float
    types: tuple[str, ...] = ()

    @cached_property
    def columns(self) -> Mapping[tuple[str, int], int]:
        """Column indices of `seconds`, keyed by GPU type (empty if all GPUs are alike) and number of GPUs."""
        counts = self.counts.tolist()
        return {
            way: column for column, way in enumerate(zip(self.types or [""] * len(counts), counts, strict=True))
        }

    @cached_property
    def weights(self) -> Array:
        """Weights of the epochs: their minimum costs in GPU-seconds.

        Each second of an epoch's duration is charged as eight additional GPU-seconds.
        """
        found: Array = ((self.counts + _OWN_GPUS) * self.seconds).min(axis=1)
        return found

    @cached_property
    def height(self) -> float:
        """Lower bound on the duration of all epochs together, in seconds, with each on its fastest GPUs."""
        rounding = TERM * (ULPS + len(self.seconds))
        return float(self.seconds.min(axis=1).sum() * (1 - rounding))

    def speeds(self, weights: Array) -> Array:
        """Return the highest speed at which weighted work can grow, for each entry of `counts`.

        During an epoch, the weighted work of the job grows at a rate equal to the epoch's weight divided by the
        epoch's duration. It never grows faster than at the highest of these rates. So, for any weights, a job
        without epochs that has these speeds is at least as fast.
        """
        found: Array = (weights[:, None] / self.seconds).max(axis=0)
        return found


def epoch_times(scenario: Scenario, round_length: float | None = None) -> dict[str, EpochTimes]:
    """Compute the minimum epoch durations of all adaptive jobs that can run, keyed by job name.

    Parameters
    ----------
    scenario
        The scenario. Jobs that are not adaptive are ignored.
    round_length
        Seconds between decisions if every schedule decides in rounds, as for `gsopt.simulation.simulate`; None
        if decisions may be made at any time.
    """
    found = _Times(scenario, round_length)
    jobs = [job for job in scenario.workload.jobs if job.model in scenario.applications]
    kinds: dict[_Kind, list[Job]] = {}
    for job in jobs:
        kinds.setdefault(found.kind(job), []).append(job)
    times = {kind: found.of(own) for kind, own in kinds.items()}
    pairs = ((job.name, times[found.kind(job)]) for job in jobs)
    return {name: known for name, known in pairs if known is not None}


#: An option of a job: a GPU type (empty if all types are alike), a number of GPUs, and a batch size (None if
#: the job chooses it).
_Option = tuple[str, int, int | None]

#: A kind of job: its model, the user's batch size if it matters, and its options. An option in which the job
#: chooses its batch size also covers the options with fixed batch sizes.
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
        """Return the epoch times of jobs of the same kind, or None if they cannot run."""
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
        """Return the number of GPUs of the largest machine of the given type, or of any type if empty."""
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
        """Return the counted durations of epochs, and the part of the first overhead in them, in seconds."""
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
    """Return the GPU types on which a job may run in the given mode, or one empty name if all are alike."""
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
