"""Spaces: finite sets of small scheduling problems for `gsopt.worst`."""

from collections.abc import Sequence
from itertools import product
from math import gcd

from gsopt.evaluation.space import Setting, Space
from gsopt.problems.scheduling import ElasticJob, Scheduling
from instances.arguments import at_least

__all__ = ["elastic", "rigid"]

#: A job: its release date, number of GPUs and duration.
_Rigid = tuple[int, int, int]

#: A job: its release date, its work, and its speed on two GPUs as a multiple of half its speed on one.
_Elastic = tuple[int, int, int]


def rigid(
    *,
    jobs: int = 3,
    gpus: int = 2,
    durations: int = 3,
    releases: int = 2,
    widths: int = 2,
    unit: float = 1.0,
) -> Space:
    """Return the space of all problems of rigid jobs with integer times.

    Parameters
    ----------
    jobs
        Largest number of jobs.
    gpus
        Largest number of GPUs of the cluster.
    durations
        Longest duration in units of time.
    releases
        Last release date in units of time. The first is 0.
    widths
        Largest number of GPUs of a job.
    unit
        Length in seconds of the unit of all times. It matters for policies that decide in rounds or have other
        constants in seconds.

    Examples
    --------
    >>> rigid(jobs=2, gpus=1, durations=2, releases=1).size
    14
    """
    at_least(1, jobs=jobs, gpus=gpus, durations=durations, widths=widths)
    at_least(0, releases=releases)
    about = f"at most {jobs} rigid jobs of at most {durations} units on at most {gpus} GPUs"
    about += f", with release dates of at most {releases} (a unit is {unit:g} s)"
    settings = (_rigid(size, durations, releases, min(widths, size), unit) for size in range(1, gpus + 1))
    return Space("scheduling", about, tuple(settings), jobs)


def _rigid(gpus: int, durations: int, releases: int, widths: int, unit: float) -> Setting:
    def make(items: Sequence[_Rigid]) -> Scheduling | None:
        times = [time for release, _, duration in items for time in (release, duration)]
        if min(release for release, _, _ in items) > 0 or gcd(*times) > 1:
            return None  # the same with earlier or shorter times
        jobs = [
            ElasticJob(name=f"j{place}", release=release * unit, work=duration * unit, rates={width: 1.0})
            for place, (release, width, duration) in enumerate(items)
        ]
        return Scheduling(gpus=gpus, jobs=jobs)

    every = product(range(releases + 1), range(1, widths + 1), range(1, durations + 1))
    return Setting(tuple(every), make)


def elastic(*, jobs: int = 3, works: int = 3, releases: int = 1, unit: float = 1.0) -> Space:
    """Return the space of all problems of jobs that run on one or both of two GPUs.

    A job is 1, 1.5 or 2 times as fast on two GPUs as on one.

    Parameters
    ----------
    jobs
        Largest number of jobs.
    works
        Largest work of a job, in units of time on one GPU.
    releases
        Last release date in units of time. The first is 0.
    unit
        Length in seconds of the unit of time, as for `rigid`.

    Examples
    --------
    >>> elastic(jobs=1, works=2, releases=0).size
    6
    """
    at_least(1, jobs=jobs, works=works)
    at_least(0, releases=releases)
    about = f"at most {jobs} elastic jobs of at most {works} units on 2 GPUs"
    about += f", with release dates of at most {releases} (a unit is {unit:g} s)"

    def make(items: Sequence[_Elastic]) -> Scheduling | None:
        times = [time for release, work, _ in items for time in (release, work)]
        if min(release for release, _, _ in items) > 0 or gcd(*times) > 1:
            return None  # the same with earlier or shorter times
        made = [
            ElasticJob(
                name=f"j{place}", release=release * unit, work=work * unit, rates={1: 1.0, 2: halves / 2}
            )
            for place, (release, work, halves) in enumerate(items)
        ]
        return Scheduling(gpus=2, jobs=made)

    every = product(range(releases + 1), range(1, works + 1), (2, 3, 4))
    return Space("scheduling", about, (Setting(tuple(every), make),), jobs)
