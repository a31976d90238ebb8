"""Spaces: finite sets of small configuration problems for `gsopt.worst`."""

from collections.abc import Sequence
from itertools import product

from gsopt.evaluation.space import Setting, Space
from gsopt.problems.configuration import AdaptiveJob, Configuration, shapes
from instances.arguments import at_least

__all__ = ["tiny"]


def tiny(*, jobs: int = 3, goodputs: int = 4) -> Space:
    """Return the space of all problems with a few new jobs on a node with two to four GPUs.

    Parameters
    ----------
    jobs
        Largest number of jobs.
    goodputs
        Largest goodput of a job on four GPUs. Goodputs are integers that do not decrease with more GPUs. On one
        GPU the goodput is 1.

    Examples
    --------
    >>> tiny(jobs=1, goodputs=2).size
    9
    """
    at_least(1, jobs=jobs, goodputs=goodputs)
    about = f"at most {jobs} new jobs with integer goodputs of at most {goodputs}, on a node with 2 to 4 GPUs"
    every = [(1, two, four) for two, four in product(range(1, goodputs + 1), repeat=2) if two <= four]
    return Space("configuration", about, tuple(_setting(gpus, every) for gpus in (2, 3, 4)), jobs)


def _setting(gpus: int, items: Sequence[tuple[int, ...]]) -> Setting:
    places = shapes("t4", nodes=1, gpus_per_node=4)

    def make(chosen: Sequence[tuple[int, ...]]) -> Configuration:
        jobs = [AdaptiveJob(name=f"j{place}", goodputs=each) for place, each in enumerate(chosen)]
        return Configuration(gpus={"t4": gpus}, configurations=places, jobs=jobs)

    return Setting(tuple(items), make)
