"""Verify epochs: the least seconds of each epoch of adaptive jobs, for the exact check of a certificate.

This third file of the checker (`gsopt.schedule.verify`) turns the data of an adaptive scenario into the numbers
on which the proof in `gsopt.schedule.verify_adaptive` depends. The scenario provides the highest speed of a job
in each epoch on each number of GPUs, with the best placement and the best batch that the job may choose there
(`Course.highest_speeds`). Everything else is computed here, in fractions.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from gsopt.core.errors import require
from gsopt.core.numbers.grid import Exact, decimal, floor_digits, whole
from gsopt.core.numbers.tolerances import HIGHEST_SPEED, ROUND_NUMBER
from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario

#: Seconds without progress that outweigh what an epoch saves by ending at a whole second.
_PAYING = 2

#: Significant digits of seconds that are no whole numbers. They are rounded down.
_DIGITS = 9

#: A way to run: the GPU type (empty if all are alike), and the number of GPUs.
Way = tuple[str, int]


class Training(NamedTuple):
    """Jobs that differ only in their release dates, with times in seconds after the workload's first release.

    `epochs` lists, for each epoch, the ways to run with their least seconds; `starts` lists, for each job, its
    release date and its first possible progress.
    """

    epochs: Sequence[Sequence[tuple[Way, Exact]]]
    starts: Sequence[tuple[Exact, Exact]]

    def __str__(self) -> str:
        epochs = (" ".join(f"{kind}*{gpus}:{least}" for (kind, gpus), least in ways) for ways in self.epochs)
        return f"{'; '.join(epochs)} | {' '.join(f'{release}:{start}' for release, start in self.starts)}"


def trainings_of(scenario: Scenario, round_length: float | None) -> list[Training]:
    """Return the adaptive jobs, grouped into jobs that differ only in their release dates."""
    groups = dict[Any, list[tuple[Exact, Exact]]]()
    for job in scenario.workload.jobs:
        if scenario.application(job) is not None:
            batch = job.batch_size if scenario.agents.progress == "samples" else None
            saving = _saving(scenario, job, round_length)
            early = 1 if saving in ("half", "whole") else 0
            key = job.model, batch, frozenset(_options(scenario, job)), saving
            groups.setdefault(key, []).append(first_progress(scenario, job, round_length, early))
    found = dict[Any, list[tuple[Exact, Exact]]]()  # other options may have the same hulls
    for key, starts in groups.items():
        found.setdefault(tuple(_epochs(scenario, *key)), []).extend(starts)
    return sorted((Training(epochs, sorted(starts)) for epochs, starts in found.items()), key=str)


def first_progress(
    scenario: Scenario, job: Job, round_length: float | None, early: int = 0
) -> tuple[Exact, Exact]:
    """Return a job's release date and its first possible progress, in seconds after the first release date.

    The job makes progress once its first overhead, less `early` seconds, is over. In rounds, it starts no
    earlier than the first round at or after its release. Overheads of jobs that are not adaptive count only in
    rounds.
    """
    release, first = (decimal(each.release_date) for each in (job, scenario.workload.jobs[0]))
    start, origin = release, scenario.clock.origin
    if round_length is not None:
        rounds = Fraction(release - origin) / decimal(round_length) * (1 - ROUND_NUMBER)
        start = origin + ceil(rounds) * decimal(round_length)
    if round_length is not None or scenario.application(job) is not None:
        start = max(start + decimal(scenario.overhead(job).start) - early, release)
    return whole(release - first), whole(start - first)


def hull(entries: Iterable[tuple[int, Exact]]) -> list[tuple[int, Exact]]:
    """Return the corners of the upper concave hull of speeds by numbers of GPUs, up to the highest speed."""
    found: list[tuple[int, Exact]] = [(0, 0)]
    for gpus, speed in sorted(entries):
        if speed > found[-1][1]:
            while len(found) > 1 and _slope(found[-2], found[-1]) <= _slope(found[-2], (gpus, speed)):
                found.pop()
            found.append((gpus, speed))
    return found[1:]


def _slope(left: tuple[int, Exact], right: tuple[int, Exact]) -> Fraction:
    return Fraction(right[1] - left[1], right[0] - left[0])


def _options(scenario: Scenario, job: Job) -> Iterator[tuple[Way, int | None]]:
    """Yield each way to run, with the batch size in it (None if the job tunes it)."""
    for mode, menu in job.speeds.items():
        own = job.gpu_type_in(mode)
        types = ([own] if own else scenario.cluster.gpu_types) if scenario.tells_types(job) else [""]
        for kind in types:
            room = scenario.cluster.room(kind)
            yield from (((kind, gpus), job.batch_in(mode)) for gpus in menu if gpus <= room)


def _saving(scenario: Scenario, job: Job, round_length: float | None) -> str:
    """Return what epochs can save where the time from the last tuning to their end is rounded to whole seconds.

    Even so, an epoch takes at least one second. Suppose that every change of a job's GPUs costs it two seconds
    without progress. These outweigh what is saved just before and after the change; of the first overhead, one
    second is enough. Each epoch then saves ``"half"`` a second, or takes a ``"whole"`` number of seconds if all
    changes and overheads do. Otherwise it saves half a second at its highest speed, but at most a third of its
    work, so at most this ``"share"`` of its time in every way to run.
    """
    paid = scenario.overhead(job)
    if not scenario.agents.whole_seconds:
        return "nothing"
    if min(paid.start, paid.resize) < _PAYING or scenario.restarts == "machines" or scenario.speed.gpu_types:
        return "share"
    times = [round_length, paid.start, paid.stop, paid.resize]
    are_whole = all(time is not None and decimal(time).denominator == 1 for time in times)
    return "whole" if are_whole and not scenario.capacity_changes else "half"


def _epochs(
    scenario: Scenario, model: str, batch: int | None, options: Iterable[tuple[Way, int | None]], saving: str
) -> Iterator[tuple[tuple[Way, Exact], ...]]:
    """Yield the least seconds of each epoch, in the ways on the hull of each type; others cost no less."""
    course, speeds = Course(scenario.applications[model], scenario.agents, batch), dict[Way, Any]()
    for (kind, gpus), size in options:
        largest = max(each.gpus for each in scenario.cluster.machines if kind in ("", each.gpu_type))
        found = course.on(kind).highest_speeds(gpus, size, largest=largest)
        speeds[kind, gpus] = np.maximum(speeds.get((kind, gpus), 0), found)
    for epoch in range(course.application.epochs):
        work = Fraction(course.work_at(epoch + 1)) - Fraction(course.work_at(epoch))
        able = {way: Fraction(each[epoch]) for way, each in sorted(speeds.items()) if each[epoch]}
        require(bool(able), "applications", model, "must let every job run for a certificate")
        if work or saving in ("half", "whole"):  # else it takes no time
            least = _counted({way: work / speed * (1 - HIGHEST_SPEED) for way, speed in able.items()}, saving)
            by_type = dict[str, list[tuple[int, Exact]]]()
            for (kind, gpus), seconds in least.items():
                by_type.setdefault(kind, []).append((gpus, 1 / Fraction(seconds)))
            corners = [(kind, gpus) for kind, own in by_type.items() for gpus, _ in hull(own)]
            yield tuple((way, least[way]) for way in corners)


def _counted(seconds: Mapping[Way, Fraction], saving: str) -> dict[Way, Exact]:
    """Return the seconds that an epoch takes at least after what can be saved, which `_saving` explains."""
    if saving == "whole":
        return {way: max(ceil(exact - Fraction(1, 2)), 1) for way, exact in seconds.items()}
    if saving == "half":
        seconds = {way: max(exact - Fraction(1, 2), Fraction(1)) for way, exact in seconds.items()}
    if saving == "share":
        left = 1 - Fraction(1, 2) / max(min(seconds.values()), Fraction(3, 2))
        seconds = {way: exact * left for way, exact in seconds.items()}
    return {way: floor_digits(exact, _DIGITS) for way, exact in seconds.items()}
