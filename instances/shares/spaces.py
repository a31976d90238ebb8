"""Spaces: finite sets of small shares problems for `gsopt.worst`."""

from collections.abc import Sequence
from itertools import product
from typing import Literal

from gsopt.evaluation.space import Setting, Space
from gsopt.problems.shares import Shares, TypedJob
from instances.arguments import at_least

__all__ = ["tiny"]

_TYPES = ("fast", "slow")


def tiny(
    *,
    jobs: int = 3,
    gpus: int = 2,
    speeds: int = 3,
    steps: int = 2,
    criterion: Literal["max_min", "finish_time", "makespan", "fifo"] = "makespan",
) -> Space:
    """Return the space of all problems with a few jobs on two GPU types.

    Parameters
    ----------
    jobs
        Largest number of jobs.
    gpus
        Largest number of GPUs of each type.
    speeds
        Highest speed of a job on a GPU, in steps per second. Speeds are integers.
    steps
        Largest number of steps that a job has left.
    criterion
        The objective, as in `gsopt.problems.shares.Shares`.

    Examples
    --------
    >>> tiny(jobs=1, gpus=1, speeds=1, steps=1).size
    1
    """
    at_least(1, jobs=jobs, gpus=gpus, speeds=speeds, steps=steps)
    about = f"at most {jobs} jobs of at most {steps} steps on two GPU types with at most {gpus} GPUs each"
    counts = product(range(1, gpus + 1), repeat=len(_TYPES))
    return Space("shares", about, tuple(_setting(each, speeds, steps, criterion) for each in counts), jobs)


def _setting(
    counts: Sequence[int],
    speeds: int,
    steps: int,
    criterion: Literal["max_min", "finish_time", "makespan", "fifo"],
) -> Setting:
    def make(chosen: Sequence[tuple[int, int, int]]) -> Shares:
        jobs = [
            TypedJob(name=f"j{place}", throughputs=dict(zip(_TYPES, each[1:], strict=True)), steps=each[0])
            for place, each in enumerate(chosen)
        ]
        return Shares(gpus=dict(zip(_TYPES, counts, strict=True)), jobs=jobs, criterion=criterion)

    every = product(range(1, steps + 1), range(1, speeds + 1), range(1, speeds + 1))
    return Setting(tuple(every), make)
