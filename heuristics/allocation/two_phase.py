"""Two phase: Aryl's Algorithm 2, shortest job first for minimum workers and a knapsack for extra workers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import InvalidInput, require_one_of
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
    """Start the queued jobs, then divide the remaining GPUs by a knapsack over the extra workers of all jobs.

    In an `Allocation`, every queued job starts. `two_phase_allocation` also chooses which jobs of a longer
    queue start.

    Parameters
    ----------
    problem
        The problem.
    weight
        The weight of w extra workers in the knapsack, in GPUs: ``w * gpus_per_worker`` (``corrected``), or
        ``(w + min_workers) * gpus_per_worker`` as in line 17 of the paper (``printed``). The latter counts the
        minimum workers twice, so it may leave GPUs idle that jobs could use.
    budget
        Time limit; if it is reached, there is no solution.

    Raises
    ------
    InvalidInput
        The weight is neither ``corrected`` nor ``printed``.
    Unsupported
        The table of the knapsack would be too large.

    Notes
    -----
    Source: Aryl, section 5.2 and Appendix D, Algorithm 2. With the corrected weight, the second phase is exact.

    Complexity: O(I C) time and O(J C) memory for J jobs, I items (allowed numbers of extra workers of all jobs)
    and C remaining GPUs.

    Departure: line 18 bases an item's value on the full running time. Here, the problem defines the value,
    which should be based on the remaining time (or `remaining_work`) of a running job.

    Examples
    --------
    >>> a = ElasticJob(name="A", min_workers=2, max_workers=3, time_at_min=150)
    >>> b = ElasticJob(name="B", min_workers=2, max_workers=6, time_at_min=60)
    >>> table_4 = Allocation(capacity=4, jobs=[a, b])
    >>> two_phase(table_4).solution.extra, two_phase(table_4, weight="printed").solution.extra
    ({'A': 1, 'B': 3}, {'A': 1})
    """
    require_one_of("weight", weight, ("corrected", "printed"))
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
    """Return the weights and values of the items of each job, with `charged` GPUs added to each weight."""
    pairs = list(zip(items.gpus.tolist(), items.value.tolist(), strict=True))
    begins, ends = items.first[:-1].tolist(), items.first[1:].tolist()
    return [
        [(gpus + more, value) for gpus, value in pairs[begin:end]]
        for begin, end, more in zip(begins, ends, charged, strict=True)
    ]


@dataclass(frozen=True)
class TwoPhase:
    """The decision of Algorithm 2: the queued jobs that start, and the extra workers.

    Attributes
    ----------
    started
        Queued jobs that start, shortest first.
    waiting
        Queued jobs that keep waiting, shortest first.
    problem
        The knapsack of the second phase, over started and running jobs.
    result
        The extra workers chosen in the second phase.
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
    """Run both phases of Algorithm 2: choose the queued jobs to start, then the extra workers of all jobs.

    Parameters
    ----------
    queued
        Waiting jobs, elastic or not.
    running
        Elastic jobs that already run. They keep their minimum workers.
    capacity
        GPUs that are idle or used by extra workers (section 5.2).
    knapsack
        Method for the second phase, such as an exact one that is faster than the table in `two_phase`.

    Raises
    ------
    InvalidInput
        A queued job has no running time.
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
    """Return the jobs that start with their minimum workers and the jobs that wait (lines 1-9, 24).

    Both lists are sorted by running time, shortest first; for elastic jobs, this is the time on the minimum
    number of workers. Ties keep the order of the queue. Jobs that do not fit are skipped.

    Raises
    ------
    InvalidInput
        A job has no running time.
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
        raise InvalidInput(f"queued job {job.name!r}", "", "must have time_at_min or remaining_work")
    return float(job.time)
