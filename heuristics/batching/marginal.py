"""Marginal: one GPU after the other to the job that gains most by it."""

from fractions import Fraction
from heapq import heapify, heappop, heappush

from gsopt.grid import Exact
from gsopt.method import heuristic
from gsopt.problem import Sense
from gsopt.problems.batching import Batches, Batching
from heuristics.batching.menus import granted, shortest_first, solution, started


@heuristic
def marginal(problem: Batching) -> Batches:
    """Start jobs, the shortest first, then give each GPU to the job whose share of the criterion gains most.

    A step leads to the next number of GPUs that a job may have, and counts by what it gains per GPU; a job
    whose step does not fit any more leaves the race. Of equal ones the shorter job gets the step.

    Parameters
    ----------
    problem
        The problem.

    Notes
    -----
    Source: the rule of Optimus (EuroSys 2018, section 4.1), which ONES compares itself with: each job gets a
    worker, then the largest marginal gain in completion time gets the next. By ``sum_time`` it is that rule.

    Departures: the gain is in the criterion of the problem; there are no parameter servers; and it goes on
    where nothing gains as long as the problem wants all GPUs used.

    Complexity: O(I log J) for I numbers of GPUs of J jobs together.

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
    race = [entry for rank, place in enumerate(order) if (entry := _step(problem, place, counts[place], rank))]
    heapify(race)
    while race:
        loss, rank, gpus = heappop(race)
        place = order[rank]
        if gpus - counts[place] > left or (loss >= 0 and problem.use == "any"):
            continue
        left -= gpus - counts[place]
        counts[place] = gpus
        entry = _step(problem, place, gpus, rank)
        if entry is not None:
            heappush(race, entry)
    return solution(problem, counts)


def _step(problem: Batching, place: int, gpus: int, rank: int) -> tuple[Exact, int, int] | None:
    """Give what the next step of a job costs per GPU, its rank, and where it leads; None where it ends."""
    further = next((count for count in problem.counts[place] if count > gpus), None)
    if further is None:
        return None
    gain = _cost(problem, place, further) - (_cost(problem, place, gpus) if gpus else 0)
    return Fraction(gain) / (further - gpus), rank, further


def _cost(problem: Batching, place: int, gpus: int) -> Exact:
    worth = problem.worth(problem.jobs[place], granted(problem, place, gpus))
    return worth if problem.sense is Sense.MINIMIZE else -worth
