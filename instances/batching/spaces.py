"""Spaces: finite sets of small batching problems for `gsopt.worst`."""

from collections.abc import Sequence
from itertools import product
from typing import Literal

from gsopt.evaluation.space import Setting, Space
from gsopt.performance.batching.job import BatchingJob
from gsopt.performance.batching.throughput import Rate, Tabulated
from gsopt.problems.batching import Batching
from instances.arguments import at_least

__all__ = ["tiny"]

#: Samples that a GPU processes at once.
_LOCAL = 8

#: A job: its remaining samples in units of 8, and its speeds on one and two GPUs.
_Trained = tuple[int, int, int]


def tiny(
    *,
    jobs: int = 3,
    gpus: int = 3,
    samples: int = 3,
    speeds: int = 3,
    criterion: Literal["sruf", "rate", "sum_time"] = "sum_time",
) -> Space:
    """Return the space of all problems with a few jobs that each run on one or two GPUs.

    Parameters
    ----------
    jobs
        Largest number of jobs.
    gpus
        Largest number of GPUs in the cluster; there is at least one for every job.
    samples
        Largest number of remaining samples, in units of 8.
    speeds
        Highest speed on two GPUs, as an integer multiple of the speed on one GPU.
    criterion
        The objective, as in `gsopt.problems.batching.Batching`.

    Examples
    --------
    >>> tiny(jobs=1, gpus=1, samples=1, speeds=2).size
    2
    """
    at_least(1, jobs=jobs, gpus=gpus, samples=samples, speeds=speeds)
    about = f"at most {jobs} jobs on at most {gpus} GPUs, each with at most {samples} units of work"
    settings = tuple(_setting(count, samples, speeds, criterion) for count in range(1, gpus + 1))
    return Space("batching", about, settings, jobs)


def _setting(gpus: int, samples: int, speeds: int, criterion: Literal["sruf", "rate", "sum_time"]) -> Setting:
    def make(chosen: Sequence[_Trained]) -> Batching | None:
        if len(chosen) > gpus:
            return None  # some job could not run
        jobs = [
            BatchingJob(
                name=f"j{place}",
                batch_limit=2 * _LOCAL,
                local_limit=_LOCAL,
                throughput=Tabulated(
                    rates=[
                        Rate(batch_size=_LOCAL, gpus=1, samples_per_second=_LOCAL * one),
                        Rate(batch_size=2 * _LOCAL, gpus=2, samples_per_second=_LOCAL * two),
                    ]
                ),
                remaining=_LOCAL * left,
            )
            for place, (left, one, two) in enumerate(chosen)
        ]
        return Batching(gpus=gpus, jobs=jobs, criterion=criterion, use="any")

    every = product(range(1, samples + 1), (1,), range(1, speeds + 1))
    return Setting(tuple(every), make)
