"""Menus: the numbers of GPUs that each job may have, and the solution with a given number for each job."""

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import TimeUp, Unsupported
from gsopt.core.numbers.grid import Exact
from gsopt.problems.batching import Batches, Batching, Grant

#: At most this many cells (job, number of GPUs) in a table.
_LARGEST_TABLE = 50_000_000


def time_on(problem: Batching, place: int, gpus: int) -> Exact:
    """Return the seconds until a job completes on `gpus` GPUs with its fastest batch size."""
    return problem.time(problem.jobs[place], granted(problem, place, gpus))


def granted(problem: Batching, place: int, gpus: int) -> Grant:
    """Return a grant of `gpus` GPUs to a job, with its fastest batch size on that number of GPUs."""
    return Grant(gpus=gpus, batch_size=problem.jobs[place].fastest(gpus) or gpus)


def started(problem: Batching) -> list[int]:
    """Return the smallest allowed number of GPUs for every job that must run, and 0 for the others."""
    return [
        counts[0] if job.name in problem.required else 0
        for job, counts in zip(problem.jobs, problem.counts, strict=True)
    ]


def shortest_first(problem: Batching) -> list[int]:
    """Return the indices of the jobs that can run, in ascending order of time on their fewest allowed GPUs.

    Ties keep their order.
    """
    able = [place for place, counts in enumerate(problem.counts) if counts]
    return sorted(able, key=lambda place: time_on(problem, place, problem.counts[place][0]))


def next_of(menu: Sequence[int], gpus: int) -> int | None:
    """Return the next larger allowed number of GPUs, or None if there is none."""
    place = bisect_right(menu, gpus)
    return menu[place] if place < len(menu) else None


def most_of(menu: Sequence[int], gpus: int) -> int:
    """Return the largest allowed number that is at most `gpus`, or 0 if there is none."""
    place = bisect_right(menu, gpus)
    return menu[place - 1] if place else 0


def solution(problem: Batching, counts: Sequence[int], budget: Budget = UNLIMITED) -> Batches:
    """Return the solution with the given GPU counts, or with the closest counts that use enough GPUs.

    If there are gaps between allowed numbers, GPUs may be left that no single job can take. In that case, the
    counts are changed as little as possible (see `nearest`). If the time limit is reached, the jobs instead
    take as many of the remaining GPUs as they can, shortest first.

    Raises
    ------
    TimeUp
        The time limit is reached before all GPUs that must be used are granted.
    Unsupported
        The table of `nearest` would be too large.
    """
    chosen = counts
    if sum(chosen) < problem.target:
        chosen = nearest(problem, counts, budget) or _filled(problem, counts)
    if sum(chosen) < problem.target:
        raise TimeUp("the time limit expired before numbers of GPUs were found that use all GPUs")
    given = zip(problem.jobs, chosen, strict=True)
    return Batches(
        running={job.name: granted(problem, place, gpus) for place, (job, gpus) in enumerate(given) if gpus}
    )


def _filled(problem: Batching, counts: Sequence[int]) -> list[int]:
    """Return the counts after granting each job as many remaining GPUs as it can take, shortest job first."""
    filled = list(counts)
    left = problem.gpus - sum(filled)
    for place in shortest_first(problem):
        most = max(most_of(problem.counts[place], filled[place] + left), filled[place])
        left -= most - filled[place]
        filled[place] = most
    return filled


def nearest(problem: Batching, wanted: Sequence[int], budget: Budget = UNLIMITED) -> list[int] | None:
    """Find GPU counts that use as many GPUs as possible and, among these, differ least from the wanted ones.

    The difference is the sum of absolute differences over all jobs. Return None if the time limit is reached.

    Raises
    ------
    Unsupported
        The table of jobs and GPUs would be too large.
    """
    if budget.passed:
        return None
    if (len(wanted) + 1) * (problem.gpus + 1) > _LARGEST_TABLE:
        raise Unsupported(f"a table of {len(wanted):,} jobs by {problem.gpus:,} GPUs is too large")
    menus = [
        counts if job.name in problem.required else (0, *counts)
        for job, counts in zip(problem.jobs, problem.counts, strict=True)
    ]
    table = np.full((len(wanted) + 1, problem.gpus + 1), np.inf)  # least differences of the first jobs
    table[0, 0] = 0
    for before, after, menu, own in zip(table, table[1:], menus, wanted, strict=False):
        for gpus in menu:
            if budget.passed:
                return None
            np.minimum(after[gpus:], before[: len(before) - gpus] + abs(gpus - own), out=after[gpus:])
    used = int(np.flatnonzero(table[-1] < np.inf)[-1])
    chosen: list[int] = []
    for before, menu, own in zip(table[-2::-1], reversed(menus), reversed(wanted), strict=True):
        fitting = [gpus for gpus in menu if gpus <= used]
        differences = [before[used - gpus] + abs(gpus - own) for gpus in fitting]
        chosen.append(fitting[int(np.argmin(differences))])
        used -= chosen[-1]
    return chosen[::-1]
