"""Spaces: finite sets of small colocation problems for `gsopt.worst`."""

from collections.abc import Sequence
from itertools import product

from gsopt.evaluation.space import Setting, Space
from gsopt.problems.colocation import Colocation, Pending, Running
from instances.arguments import at_least

__all__ = ["tiny"]

#: Slowdown of a job, by its own model and the model of the job that shares its GPUs.
_INTERFERENCE = {"a": {"a": 1.2, "b": 1.5}, "b": {"a": 1.1, "b": 3.0}}

#: A job: whether it is running, its remaining seconds, and its model.
_Half = tuple[bool, int, str]


def tiny(*, jobs: int = 4, seconds: int = 3) -> Space:
    """Return the space of all problems with a few one-GPU jobs of two models that slow each other down.

    Parameters
    ----------
    jobs
        Largest number of jobs, running and pending ones together.
    seconds
        Longest remaining time of a job, in whole seconds.

    Examples
    --------
    >>> tiny(jobs=2, seconds=1).size
    10
    """
    at_least(2, jobs=jobs)
    at_least(1, seconds=seconds)
    about = f"at most {jobs} running or pending jobs of two models, each of at most {seconds} s"

    def make(chosen: Sequence[_Half]) -> Colocation:
        running = [
            Running(name=f"r{place}", gpus=1, seconds=time, model=model)
            for place, (runs, time, model) in enumerate(chosen)
            if runs
        ]
        pending = [
            Pending(name=f"p{place}", gpus=1, seconds=time, model=model)
            for place, (runs, time, model) in enumerate(chosen)
            if not runs
        ]
        return Colocation(running=running, pending=pending, interference=_INTERFERENCE)

    items = [(runs, time, model) for time, model, runs in product(range(1, seconds + 1), "ab", (True, False))]
    return Space("colocation", about, (Setting(tuple(items), make),), jobs, least=2)
