"""Spaces: finite sets of small sequencing problems for `gsopt.worst`."""

from collections.abc import Sequence
from itertools import product
from math import gcd

from gsopt.evaluation.space import Setting, Space
from gsopt.problems.sequencing import Machine, Sequencing, UnitJob
from instances.arguments import at_least

__all__ = ["tiny"]


def tiny(*, jobs: int = 3, machines: int = 2, seconds: int = 4) -> Space:
    """Return the space of all problems with a few jobs on GPUs of different types.

    Parameters
    ----------
    jobs
        Largest number of jobs.
    machines
        Largest number of GPUs, each of a different type.
    seconds
        Longest time that a job takes on a GPU, in whole seconds.

    Examples
    --------
    >>> tiny(jobs=2, machines=1, seconds=2).size
    5
    """
    at_least(1, jobs=jobs, machines=machines, seconds=seconds)
    about = f"at most {jobs} jobs of at most {seconds} s on at most {machines} GPUs of different types"
    settings = tuple(_setting(count, seconds) for count in range(1, machines + 1))
    return Space("sequencing", about, settings, jobs)


def _setting(machines: int, seconds: int) -> Setting:
    names = [f"m{number}" for number in range(machines)]

    def make(times: Sequence[tuple[int, ...]]) -> Sequencing | None:
        if gcd(*(time for each in times for time in each)) > 1:
            return None  # the same with shorter times
        jobs = [
            UnitJob(name=f"j{place}", seconds=dict(zip(names, each, strict=True)))
            for place, each in enumerate(times)
        ]
        return Sequencing(machines=[Machine(name=name, gpu_type=name) for name in names], jobs=jobs)

    return Setting(tuple(product(range(1, seconds + 1), repeat=machines)), make)
