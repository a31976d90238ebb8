"""Beginning: a first allocation and a bound, both cheap to compute, and a test of whether they suffice."""

from collections.abc import Sequence

import numpy as np

from formulations.batching.case import BatchingCase
from formulations.common.first import judged_start
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.result import Result
from gsopt.problems.batching import Batches

#: Maximum product of the numbers of jobs and GPUs for which the reachable numbers of GPUs are stored.
_MOST_BITS = 2_000_000_000


def begin(case: BatchingCase, budget: Budget, method: str) -> tuple[Result[Batches], bool]:
    """Return a first allocation with a bound, and whether the search is over.

    If the budget has a start that is no worse, this is returned instead. The bound adds up each job's minimum
    cost, ignoring contention. The search is over if value and bound are equal or within the requested gap, if
    the time limit is reached, or if the caller stops it.
    """
    solution, bound = case.solution(first_division(case)), case.sign * bound_alone(case)
    return judged_start(case.problem, solution, bound, method=method, message="filling", budget=budget)


def bound_alone(case: BatchingCase) -> float:
    """Return a lower bound on the total cost: the sum of each job's minimum cost, ignoring the other jobs."""
    return float(case.costs.min(axis=1, initial=np.inf).sum()) - case.error if len(case.costs) else 0.0


def first_division(case: BatchingCase) -> list[int]:
    """Return a first allocation, in which jobs that must run take GPUs before the others, in list order.

    If GPUs may stay idle, only the jobs that must run get GPUs, as few as they may have. If all GPUs must be
    used but this order leaves some idle, the allocation is read from a table that states, for every k, which
    numbers of GPUs the first k jobs can use in total. Raises `Unsupported` if the table is too large.
    """
    problem = case.problem
    must = [job.name in problem.required for job in problem.jobs]
    chosen = [counts[0] if needed else 0 for counts, needed in zip(problem.counts, must, strict=True)]
    left = case.gpus - sum(chosen) if case.use_all else 0
    for place in sorted(range(len(must)), key=lambda place: not must[place]):
        counts = problem.counts[place]
        most = _most(counts, chosen[place] + left)
        left -= max(most - chosen[place], 0)
        chosen[place] = max(most, chosen[place])
    return chosen if not left else _reached(case, must)


def _most(counts: Sequence[int], room: int) -> int:
    """Return the largest allowed number of GPUs that is at most `room`, or 0 if there is none."""
    if isinstance(counts, range):
        return min(counts.stop - 1, room) if counts and room >= counts.start else 0
    return max((count for count in counts if count <= room), default=0)


def _reached(case: BatchingCase, must: Sequence[bool]) -> list[int]:
    """Return an allocation that uses all GPUs, for jobs with gaps between their allowed numbers of GPUs."""
    counts, gpus = case.problem.counts, case.gpus
    if len(counts) * gpus > _MOST_BITS:
        raise Unsupported(f"menus with gaps of {len(counts):,} jobs on {gpus:,} GPUs are too large")
    rows = [1]  # which numbers of GPUs the jobs so far can use, a bit each
    for menu, needed in zip(counts, must, strict=True):
        row = 0 if needed else rows[-1]
        for count in menu:
            row |= rows[-1] << count
        rows.append(row & ((1 << gpus + 1) - 1))
    chosen, left = [0] * len(counts), gpus
    for place in range(len(counts) - 1, -1, -1):
        menu = counts[place] if must[place] else (0, *counts[place])
        chosen[place] = next(count for count in menu if count <= left and rows[place] >> left - count & 1)
        left -= chosen[place]
    return chosen
