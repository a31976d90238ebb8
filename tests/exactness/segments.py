"""Segments: list schedules and the policy of marginal efficiency from their definitions, in fractions.

A job's menu is replaced by its concave hull through the origin. At every event a list of hull segments is gone
through once, and each is accepted whose job is there, whose predecessor was accepted and for whose GPUs there
is room.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from gsopt.job import Job

#: Gives the segments in their order, each as job and number of its step, from the remaining work of the jobs
#: that are there and the steps that each of them holds.
Rank = Callable[[Mapping[int, Fraction], Mapping[int, int]], Iterable[tuple[int, int]]]


class Segment(NamedTuple):
    """A step of a job's hull: GPUs and speed that it adds."""

    gpus: int
    speed: Fraction


def hull(job: Job) -> list[Segment]:
    """Give the hull of a job's menu, with a corner at every entry that lies on it.

    Examples
    --------
    >>> menu = [(1, 0.5), (2, 1.0), (3, 1.1), (4, 1.5)]
    >>> [(step.gpus, step.speed) for step in hull(Job(name="a", release_date=0, duration=1, gpus=2, menu=menu))]
    [(1, Fraction(1, 2)), (1, Fraction(1, 2)), (2, Fraction(1, 2))]
    """
    entries = [(count, Fraction(speed)) for count, speed in job.speeds[""].items()]
    found, gpus, speed = [], 0, Fraction(0)
    while better := [entry for entry in entries if entry[0] > gpus and entry[1] > speed]:
        steepest = max((entry[1] - speed) / (entry[0] - gpus) for entry in better)
        count, top = min(entry for entry in better if entry[1] - speed == steepest * (entry[0] - gpus))
        found.append(Segment(count - gpus, top - speed))
        gpus, speed = count, top
    return found


def accepted(
    order: Iterable[tuple[int, int]], hulls: Sequence[Sequence[Segment]], there: Iterable[int], gpus: int
) -> dict[int, int]:
    """Go through segments once and accept what fits; give the number of steps of each job that runs.

    Examples
    --------
    >>> wide, narrow = [Segment(1, Fraction(1)), Segment(2, Fraction(1))], [Segment(1, Fraction(1))]
    >>> accepted([(0, 0), (0, 1), (1, 0)], [wide, narrow], [0, 1], 2)
    {0: 1, 1: 1}
    """
    held = dict.fromkeys(there, 0)
    free = gpus
    for job, step in order:
        if held.get(job) == step and hulls[job][step].gpus <= free:
            free -= hulls[job][step].gpus
            held[job] += 1
    return {job: steps for job, steps in held.items() if steps}


def completions(jobs: Sequence[Job], gpus: int, rank: Rank) -> list[Fraction]:
    """Give the completion times of jobs on a plain cluster, if segments are accepted in the order of a rank.

    Examples
    --------
    >>> jobs = [Job(name=name, release_date=0, duration=2, gpus=1) for name in "ab"]
    >>> [int(end) for end in completions(jobs, 1, lambda left, held: [(1, 0), (0, 0)])]
    [4, 2]
    """
    hulls = [hull(job) for job in jobs]
    left = {number: Fraction(job.duration) for number, job in enumerate(jobs)}
    releases = [Fraction(job.release_date) for job in jobs]
    ends: dict[int, Fraction] = {}
    held: dict[int, int] = {}
    now = min(releases)
    while left:
        there = {job: work for job, work in left.items() if releases[job] <= now}
        held = accepted(rank(there, held), hulls, there, gpus)
        speed = {
            job: sum((step.speed for step in hulls[job][:steps]), Fraction(0)) for job, steps in held.items()
        }
        ahead = [release for release in releases if release > now]
        then = min([*(now + left[job] / rate for job, rate in speed.items()), *ahead])
        for job, rate in speed.items():
            left[job] -= rate * (then - now)
            if not left[job]:
                ends[job] = then
                del left[job], held[job]
        now = then
    return [ends[job] for job in range(len(jobs))]


def marginal(jobs: Sequence[Job], *, exponent: int = 4, hysteresis: Fraction = Fraction(1)) -> Rank:
    """Rank by marginal efficiency, relative to the best, to a power over remaining area.

    The area of a job is the least GPU-seconds that it takes on any entry of its menu. Held segments
    count `hysteresis` times. Ties: lower job.
    """
    hulls = [hull(job) for job in jobs]
    least = [min(count / Fraction(speed) for count, speed in job.speeds[""].items()) for job in jobs]

    def rank(left: Mapping[int, Fraction], held: Mapping[int, int]) -> list[tuple[int, int]]:
        def worth(job: int, step: int) -> Fraction:
            segment = hulls[job][step]
            index = (segment.speed / segment.gpus * least[job]) ** exponent / (least[job] * left[job])
            return index * (hysteresis if step < held.get(job, 0) else 1)

        segments = [(job, step) for job in left for step in range(len(hulls[job]))]
        return sorted(segments, key=lambda segment: (-worth(*segment), segment))

    return rank
