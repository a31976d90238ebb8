"""Menus: the numbers of GPUs that jobs may have, and the solution that a choice of them gives."""

from collections.abc import Sequence

import numpy as np

from gsopt.batching.split import split
from gsopt.grid import Exact
from gsopt.problems.batching import Batches, Batching, Grant


def time_on(problem: Batching, place: int, gpus: int) -> Exact:
    """Give the seconds until a job completes on so many GPUs, with its fastest batch.

    Examples
    --------
    >>> from gsopt.batching import BatchingJob, StepTime
    >>> model = StepTime(fixed=3, per_sample=1)
    >>> job = BatchingJob(name="a", batch_limit=3, local_limit=2, throughput=model, remaining=6)
    >>> time_on(Batching(gpus=2, jobs=[job]), 0, 2)
    Fraction(10, 1)
    """
    return problem.time(problem.jobs[place], granted(problem, place, gpus))


def granted(problem: Batching, place: int, gpus: int) -> Grant:
    """Give so many GPUs to a job, with its fastest batch on them."""
    return Grant(gpus=gpus, batch_size=problem.jobs[place].fastest(gpus) or gpus)


def started(problem: Batching) -> list[int]:
    """Give the fewest GPUs to every job that must run, and none to the others.

    Examples
    --------
    >>> from instances.batching import elastic_jobs
    >>> started(elastic_jobs(gpus=2, jobs=3, seed=1))
    [0, 1, 1]
    """
    return [
        counts[0] if job.name in problem.required else 0
        for job, counts in zip(problem.jobs, problem.counts, strict=True)
    ]


def shortest_first(problem: Batching) -> list[int]:
    """Order the jobs that can run by the seconds they need on their fewest GPUs, equal ones as listed."""
    able = [place for place, counts in enumerate(problem.counts) if counts]
    return sorted(able, key=lambda place: time_on(problem, place, problem.counts[place][0]))


def solution(problem: Batching, counts: Sequence[int]) -> Batches:
    """Give the jobs their GPUs, or the nearest numbers that use as many as the problem asks for.

    Where menus have gaps, GPUs may be left that no single job takes. Then as few as possible change hands.
    """
    if sum(counts) < problem.target:
        counts = nearest(problem, counts)
    given = zip(problem.jobs, counts, strict=True)
    return Batches(
        running={job.name: granted(problem, place, gpus) for place, (job, gpus) in enumerate(given) if gpus}
    )


def nearest(problem: Batching, wanted: Sequence[int]) -> list[int]:
    """Give numbers of GPUs that use as many as can be, with the least differences to those wanted.

    Examples
    --------
    >>> from gsopt.batching import BatchingJob, StepTime
    >>> model = StepTime(fixed=3, per_sample=1)
    >>> jobs = [
    ...     BatchingJob(name=name, batch_limit=9, local_limit=1, throughput=model, remaining=6)
    ...     for name in "ab"
    ... ]
    >>> nearest(Batching(gpus=9, jobs=jobs, menu="doublings"), [4, 4])
    [8, 1]
    """
    widest = max((counts[-1] for counts in problem.counts if counts), default=0)
    costs = np.full((len(wanted), widest + 1), np.inf)
    for place, counts in enumerate(problem.counts):
        costs[place, 0] = wanted[place]
        for gpus in counts:
            costs[place, gpus] = abs(gpus - wanted[place])
    must = [job.name in problem.required for job in problem.jobs]
    chosen: list[int] = split(costs, problem.gpus, must=must).tolist()
    return chosen
