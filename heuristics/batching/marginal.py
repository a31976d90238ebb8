"""Marginal: GPUs granted step by step to the job that gains the most per GPU."""

from fractions import Fraction
from heapq import heapify, heappop, heappush

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import heuristic
from gsopt.core.numbers.grid import Exact
from gsopt.core.problem import Sense
from gsopt.problems.batching import Batches, Batching
from heuristics.batching.menus import granted, next_of, shortest_first, solution, started

#: Change of a job's cost per GPU in its next step, the job's rank, and its GPUs and cost after the step.
_Step = tuple[Exact, int, int, Exact]


@heuristic
def marginal(problem: Batching, *, budget: Budget = UNLIMITED) -> Batches:
    """Start the shortest jobs, then repeatedly grow the job whose part of the objective improves most per GPU.

    Jobs that must run start first, then the shortest others that fit, each on the fewest GPUs that it may have.
    A job is shorter if it takes less time on that number of GPUs. If the problem's `forced` is ``"none"``, no
    job starts in advance, and a job's first GPUs are a step. Other steps take a job to its next allowed number
    of GPUs. Ties go to the shorter job. A job whose next step no longer fits takes no further steps.

    If GPUs that must be used are left over, the jobs' numbers of GPUs are changed as little as possible to use
    them (`heuristics.batching.menus.nearest`).

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, after which the remaining GPUs go to the shorter jobs, or stay idle if that is allowed.

    Notes
    -----
    Source: the rule of Optimus (EuroSys 2018, section 4.1), a baseline of ONES. Departures: the gain is in the
    problem's criterion, there are no parameter servers, and GPUs are granted even without a gain if all must be
    used.

    Complexity: O(I log J) for J jobs that have I allowed numbers of GPUs in total, plus O(I n) for n GPUs if
    these numbers have gaps.

    Examples
    --------
    >>> from instances.batching import elastic_jobs
    >>> result = marginal(elastic_jobs(gpus=8, jobs=5, criterion="sum_time", seed=1))
    >>> sorted(grant.gpus for grant in result.solution.running.values())
    [1, 1, 1, 1, 4]
    """
    counts, order = started(problem), shortest_first(problem)
    left = problem.gpus - sum(counts)
    for place in order:
        if not counts[place] and problem.forced != "none" and problem.counts[place][0] <= left:
            counts[place] = problem.counts[place][0]
            left -= counts[place]
    steps: list[_Step] = []
    for rank, place in enumerate(order):
        if budget.passed:
            break
        entry = _step(problem, place, counts[place], _cost(problem, place, counts[place]), rank)
        steps += [] if entry is None else [entry]
    heapify(steps)
    while steps and not budget.passed:
        loss, rank, gpus, cost = heappop(steps)
        place = order[rank]
        if gpus - counts[place] > left or (loss >= 0 and problem.use == "any"):
            continue
        left -= gpus - counts[place]
        counts[place] = gpus
        entry = _step(problem, place, gpus, cost, rank)
        if entry is not None:
            heappush(steps, entry)
    return solution(problem, counts, budget)


def _step(problem: Batching, place: int, gpus: int, cost: Exact, rank: int) -> _Step | None:
    """Return a job's next step from `gpus` GPUs, on which it costs `cost`, or None if there is none."""
    further = next_of(problem.counts[place], gpus)
    if further is None:
        return None
    after = _cost(problem, place, further)
    return Fraction(after - cost) / (further - gpus), rank, further, after


def _cost(problem: Batching, place: int, gpus: int) -> Exact:
    if not gpus:
        return 0
    worth = problem.worth(problem.jobs[place], granted(problem, place, gpus))
    return worth if problem.sense is Sense.MINIMIZE else -worth
