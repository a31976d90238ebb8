"""Spaces: finite sets of small waiting problems for `gsopt.worst`."""

from collections.abc import Sequence
from itertools import product
from math import gcd
from typing import Literal

from gsopt.evaluation.space import Setting, Space
from gsopt.problems.waiting import Waiting
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from instances.arguments import at_least

__all__ = ["one_machine"]

#: A job: its release date, number of GPUs and duration.
_Rigid = tuple[int, int, int]


def one_machine(
    *,
    jobs: int = 4,
    gpus: int = 2,
    durations: int = 3,
    releases: int = 0,
    widths: int = 1,
    minimize: Literal["mean_jct", "makespan"] = "makespan",
) -> Space:
    """Return the space of all problems with a few jobs that run without interruption on one machine.

    Parameters
    ----------
    jobs
        Largest number of jobs.
    gpus
        Number of GPUs.
    durations
        Longest duration in whole seconds.
    releases
        Last release date in seconds; the first is 0.
    widths
        Largest number of GPUs of a job.
    minimize
        The objective, as in `gsopt.problems.waiting.Waiting`.

    Examples
    --------
    >>> one_machine(jobs=2, gpus=2, durations=2).size
    5
    """
    at_least(1, jobs=jobs, gpus=gpus, durations=durations, widths=widths)
    at_least(0, releases=releases)
    about = f"at most {jobs} jobs of at most {durations} s on one machine with {gpus} GPUs"
    about += f", with release dates of at most {releases} s" if releases else ""

    def make(items: Sequence[_Rigid]) -> Waiting | None:
        times = [time for release, _, duration in items for time in (release, duration)]
        if min(release for release, _, _ in items) > 0 or gcd(*times) > 1:
            return None  # the same with earlier or shorter times
        made = [
            Job(name=f"j{place}", release_date=release, duration=duration, gpus=width)
            for place, (release, width, duration) in enumerate(items)
        ]
        made.sort(key=lambda job: job.release_date)
        return Waiting(cluster=Cluster.uniform(machines=1, gpus=gpus), jobs=made, minimize=minimize)

    every = product(range(releases + 1), range(1, min(widths, gpus) + 1), range(1, durations + 1))
    return Space("waiting", about, (Setting(tuple(every), make),), jobs)
