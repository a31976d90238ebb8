"""Aryl's Algorithm 2: minimum workers first, by shortest job first; then a knapsack for the extra workers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.method import NoSolution, heuristic
from gsopt.core.result import Result
from gsopt.problems.allocation import Allocation, AllocationSolution, ElasticJob
from heuristics.allocation.items import Items
from heuristics.allocation.max_value import Item, max_value, refuse_large


@heuristic
def two_phase(
    problem: Allocation,
    *,
    weight: Literal["corrected", "printed"] = "corrected",
    budget: Budget = UNLIMITED,
) -> AllocationSolution | NoSolution:
    """Start the queued jobs, then share what is left by the knapsack over the extra workers of all jobs.

    In an `Allocation` every queued job starts, so the first phase only takes its GPUs; `two_phase_allocation`
    chooses from a longer queue.

    Parameters
    ----------
    problem
        The problem.
    weight
        GPUs that an item of w extra workers takes out of the remaining ones: ``w * gpus_per_worker``
        (``corrected``), or ``(w + min_workers) * gpus_per_worker`` as printed in line 17 (``printed``). The
        printed weight charges the minimum workers a second time, and leaves GPUs idle.
    budget
        When to stop; there is no solution then.

    Raises
    ------
    InvalidInput
        The option has a value it cannot have.
    Unsupported
        The table of the knapsack is too large.

    Notes
    -----
    Source: Aryl, section 5.2 and Appendix D, Algorithm 2.

    Complexity: O(I C) time and O(J C) memory for J jobs, I items and C remaining GPUs.

    With the corrected weight the second phase is exact: the heuristic part of the algorithm is to decide in two
    phases, and at one moment only.

    Departures from the paper:

    - Line 19 appends the item to the list of groups; it belongs to the group of its job.
    - Line 25 asks for C* >= 0, which always holds; with C* = 0 nothing is left to share either way.
    - Line 18 takes the full running time at the minimum also for running jobs. Here the value is what the
      problem says: give the time that is left (or `remaining_work`) for a job that has run already.

    Examples
    --------
    >>> a = ElasticJob(name="A", min_workers=2, max_workers=3, time_at_min=150)
    >>> b = ElasticJob(name="B", min_workers=2, max_workers=6, time_at_min=60)
    >>> table_4 = Allocation(capacity=4, jobs=[a, b])
    >>> two_phase(table_4).solution.extra, two_phase(table_4, weight="printed").solution.extra
    ({'A': 1, 'B': 3}, {'A': 1})
    """
    if weight not in ("corrected", "printed"):
        raise InvalidInput("", "weight", shorten(weight), "must be one of corrected, printed")
    if problem.obstacle:
        return NoSolution(problem.obstacle, proven=True)
    items = Items.of(problem)
    charged = [job.base_gpus * (weight == "printed") for job in problem.jobs]
    most = sum(job.max_extra * job.gpus_per_worker for job in problem.jobs) + sum(charged)
    refuse_large(len(problem.jobs), items.value.size, min(problem.remaining, most))
    chosen = max_value(_groups(items, charged), problem.remaining, budget)
    given = zip(problem.jobs, items.first.tolist(), chosen, strict=False)
    extra = {job.name: int(items.extra[first + place - 1]) for job, first, place in given if place}
    return AllocationSolution(extra=extra)


def _groups(items: Items, charged: Sequence[int]) -> list[list[Item]]:
    """List weight and value of the items of each job; some GPUs per job are charged beside the item's own."""
    pairs = list(zip(items.gpus.tolist(), items.value.tolist(), strict=True))
    begins, ends = items.first[:-1].tolist(), items.first[1:].tolist()
    return [
        [(gpus + more, value) for gpus, value in pairs[begin:end]]
        for begin, end, more in zip(begins, ends, charged, strict=True)
    ]


@dataclass(frozen=True)
class TwoPhase:
    """What Algorithm 2 decides for a queue.

    Attributes
    ----------
    started
        Queued jobs that start, the shortest first.
    waiting
        Queued jobs that keep waiting, the shortest first.
    problem
        The knapsack of the second phase: the jobs started and the running ones.
    result
        Its extra workers.
    """

    started: tuple[ElasticJob, ...]
    waiting: tuple[ElasticJob, ...]
    problem: Allocation
    result: Result[AllocationSolution]


def two_phase_allocation(
    queued: Iterable[ElasticJob],
    running: Iterable[ElasticJob],
    capacity: int,
    *,
    knapsack: Callable[[Allocation], Result[AllocationSolution]] = two_phase,
) -> TwoPhase:
    """Run Algorithm 2 as a whole: choose which queued jobs start, then the extra workers of all jobs.

    Parameters
    ----------
    queued
        Jobs that wait, elastic or not.
    running
        Elastic jobs that run with their minimum workers.
    capacity
        GPUs that are idle or used by extra workers (section 5.2), minimum workers of running jobs excluded.
    knapsack
        Method for the second phase; for example an exact one that is faster than the table of `two_phase`.

    Raises
    ------
    InvalidInput
        A queued job has no running time.

    Notes
    -----
    Source: Aryl, Appendix D, Algorithm 2.
    """
    started, waiting = shortest_job_first(list(queued), capacity)
    problem = Allocation(
        capacity=capacity,
        jobs=(
            *(job.model_copy(update={"queued": True}) for job in started),
            *(job.model_copy(update={"queued": False}) for job in running),
        ),
    )
    return TwoPhase(tuple(started), tuple(waiting), problem, knapsack(problem))


def shortest_job_first(
    queued: Sequence[ElasticJob], capacity: int
) -> tuple[list[ElasticJob], list[ElasticJob]]:
    """Start jobs with their minimum workers, the shortest running time first; pass over those that do not fit.

    Elastic jobs count with their running time at the minimum; of equal ones the first in the queue starts
    first.

    Returns
    -------
    started, waiting
        Two lists, the shortest job first.

    Raises
    ------
    InvalidInput
        A job has no running time.

    Notes
    -----
    Source: Aryl, section 5.2 and Appendix D, Algorithm 2, lines 1-9 and 24.
    """
    started: list[ElasticJob] = []
    waiting: list[ElasticJob] = []
    for job in sorted(queued, key=_running_time):
        fits = job.base_gpus <= capacity
        (started if fits else waiting).append(job)
        capacity -= job.base_gpus * fits
    return started, waiting


def _running_time(job: ElasticJob) -> float:
    if job.time is None:
        raise InvalidInput("", f"queued job {job.name!r}", "", "must have time_at_min or remaining_work")
    return float(job.time)
