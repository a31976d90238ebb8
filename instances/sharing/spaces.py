"""Spaces: finite sets of small sharing problems for `gsopt.worst`."""

from collections.abc import Sequence
from itertools import product
from math import gcd

from gsopt.evaluation.space import Setting, Space
from gsopt.problems.sharing import Sharing
from gsopt.scenario.job import Job
from instances.arguments import at_least

__all__ = ["tiny"]

#: Slowdown of a job, by its own model and the model of the job that shares its GPUs.
_INTERFERENCE = {"a": {"a": 1.2, "b": 1.5}, "b": {"a": 1.1, "b": 3.0}}

#: A job: its release date, number of GPUs, duration and model.
_Sharer = tuple[int, int, int, str]


def tiny(*, jobs: int = 3, gpus: int = 2, durations: int = 2, releases: int = 1) -> Space:
    """Return the space of all problems with a few jobs of two models that may share GPUs.

    Parameters
    ----------
    jobs
        Largest number of jobs.
    gpus
        Number of GPUs. A job needs at least one of them, and at most all.
    durations
        Longest duration in whole seconds.
    releases
        Last release date in seconds; the first is 0.

    Examples
    --------
    >>> tiny(jobs=1, gpus=2, durations=1, releases=0).size
    4
    """
    at_least(1, jobs=jobs, gpus=gpus, durations=durations)
    at_least(0, releases=releases)
    about = f"at most {jobs} jobs, each of one of two models and at most {durations} s long, on a cluster of "
    about += f"{gpus} GPUs; release dates are at most {releases} s"

    def make(items: Sequence[_Sharer]) -> Sharing | None:
        times = [time for release, _, duration, _ in items for time in (release, duration)]
        if min(release for release, *_ in items) > 0 or gcd(*times) > 1:
            return None  # the same with earlier or shorter times
        made = [
            Job(name=f"j{place}", release_date=release, duration=duration, gpus=width, model=model)
            for place, (release, width, duration, model) in enumerate(items)
        ]
        made.sort(key=lambda job: job.release_date)
        return Sharing(gpus=gpus, jobs=made, interference=_INTERFERENCE)

    every = product(range(releases + 1), range(1, gpus + 1), range(1, durations + 1), "ab")
    return Space("sharing", about, (Setting(tuple(every), make),), jobs)
