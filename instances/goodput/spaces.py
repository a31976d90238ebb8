"""Spaces: finite sets of small goodput problems for `gsopt.worst`."""

from collections.abc import Sequence
from itertools import pairwise, product

from gsopt.evaluation.space import Setting, Space
from gsopt.problems.goodput import Goodput, GoodputJob
from instances.arguments import at_least

__all__ = ["tiny"]


def tiny(*, jobs: int = 3, gpus: int = 3, steps: int = 2) -> Space:
    """Return the space of all problems with a few new jobs on one node.

    Parameters
    ----------
    jobs
        Largest number of jobs.
    gpus
        Largest number of GPUs on the node, which has at least two.
    steps
        Number of steps from a gain of 0 to a gain of 1. The speed-up is 1 on one GPU. Each additional GPU gains
        a multiple of 1 / `steps`, which is at most 1 and at most the gain of the GPU before.

    Examples
    --------
    >>> tiny(jobs=1, gpus=2, steps=1).size
    2
    """
    at_least(1, jobs=jobs, steps=steps)
    at_least(2, gpus=gpus)
    about = f"at most {jobs} new jobs on a node with 2 to {gpus} GPUs"
    return Space("goodput", about, tuple(_setting(count, steps) for count in range(2, gpus + 1)), jobs)


def _setting(gpus: int, steps: int) -> Setting:
    gains = product(range(steps + 1), repeat=gpus - 1)
    falling = [each for each in gains if all(one >= other for one, other in pairwise(each))]

    def make(chosen: Sequence[tuple[int, ...]]) -> Goodput:
        jobs = []
        for place, each in enumerate(chosen):
            speedups = [1.0]
            for gain in each:
                speedups.append(speedups[-1] + gain / steps)
            jobs.append(GoodputJob(name=f"j{place}", speedups=[speedups]))
        return Goodput(nodes=[gpus], jobs=jobs)

    return Setting(tuple(falling), make)
