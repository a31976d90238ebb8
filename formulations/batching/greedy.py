"""Greedy: grants of GPUs, step by step, to the jobs that gain most per GPU, and a bound from a price."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations.batching.beginning import begin
from formulations.batching.case import BatchingCase
from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import exact_method, no_worse
from gsopt.core.numbers.grid import Number
from gsopt.core.numbers.tolerances import TERM
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.batching import Batches, Batching

Floats = NDArray[np.float64]

#: Number of points of a hull between two checks of the clock.
_POINTS = 10_000


class HullStep(NamedTuple):
    """A step along the lower convex hull of a job's costs: the cost per GPU, the job, and its added GPUs."""

    slope: float
    job: int
    gpus: int


@dataclass(frozen=True)
class Walk:
    """The outcome of taking steps along the hulls of all jobs."""

    counts: tuple[int, ...]  # GPUs of each job
    left: int  # GPUs that are left because the next step needs more; 0 if the walk was completed
    taken: tuple[HullStep, ...]  # the steps taken
    slope: float  # cost of a GPU at the end of the walk


@exact_method(unused=["backend", "log"])
def greedy(problem: Batching, budget: Budget) -> Result[Batches]:
    """Grant GPUs step by step to the job that gains the most per GPU, along the convex hulls of the costs.

    The steps end when no GPUs are left, when no further step helps, or when the next step needs more GPUs than
    are left.

    In the first two cases, a price per GPU proves that the result is optimal, unless gains differ only in their
    last digits. The steps always end in one of these two ways if costs are strictly convex and every number of
    GPUs is allowed.

    In the third case, the price only yields a bound. The remaining GPUs go to the one job that gains the most
    from all of them, or stay idle if no job gains. If all GPUs must be used, they go to the job that loses the
    least; if no job may have them, the result is a simple first allocation.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start and callback.

    Raises
    ------
    Unsupported
        A table of the jobs by numbers of GPUs would be too large.

    Notes
    -----
    Source: the greedy algorithm for separable convex costs (O. Gross, A class of discrete type minimization
    problems, 1956), applied to the linear relaxation of the multiple-choice knapsack. Optimus also allocates
    GPUs by marginal gain.

    Complexity: O(I log I) for I allowed numbers of GPUs, summed over all jobs.

    Examples
    --------
    >>> from instances.batching import elastic_jobs
    >>> result = greedy(elastic_jobs(gpus=40, jobs=30, criterion="rate", seed=4))
    >>> result.status, result.gap < 0.01
    (<Status.FEASIBLE: 'feasible'>, True)
    """
    case = BatchingCase.of(problem, budget)
    first, ended = begin(case, budget, "greedy")
    return first if ended else walk_hulls(case, budget, first)


def walk_hulls(
    case: BatchingCase, budget: Budget, known: Result[Batches], method: str = "greedy"
) -> Result[Batches]:
    """Take steps along the hulls of all jobs, and return the result, or the known result if that is better."""
    problem = case.problem
    walk = take_steps(case, budget)
    if walk is None:
        return replace(known, stopped_by=StoppedBy.TIME_LIMIT, runtime=budget.runtime)
    counts = _made_up(case, walk) if walk.left else list(walk.counts)
    solution = known.solution if counts is None else case.solution(counts)
    proven = not walk.left and _is_proven(case, walk, budget)
    late = not proven and budget.passed
    bounds: list[Number] = [case.sign * _price_bound(case, walk.slope)]
    if known.bound is not None:
        bounds.append(known.bound)
    if proven and solution is not None:
        bounds = [problem.objective(solution)]
    result = Result.judged(
        problem,
        method=method,
        solution=solution,
        bound=max(bounds) if case.sign > 0 else min(bounds),
        stopped_by=StoppedBy.TIME_LIMIT if late else StoppedBy.FINISHED,
        message="greedy" if proven or late else "greedy, not proven",
        runtime=budget.runtime,
    )
    return replace(no_worse(result, problem, known.solution), runtime=budget.runtime)


def take_steps(case: BatchingCase, budget: Budget) -> Walk | None:
    """Take steps, lowest cost per GPU first, until the next one needs more GPUs than are left.

    Unless all GPUs have to be used, only steps that reduce the cost are taken. Returns None if the time limit
    is reached.
    """
    counts = [_least_gpus(row) for row in case.costs]
    left = case.gpus - sum(counts)
    steps: list[HullStep] = []
    for job, row in enumerate(case.costs):
        steps += hull(row, job, budget)
    if budget.passed:
        return None
    steps.sort()
    if not case.use_all:
        steps = [step for step in steps if step.slope < 0]
    taken: list[HullStep] = []
    for step in steps:
        if step.gpus > left:
            return Walk(tuple(counts), left, tuple(taken), step.slope)
        counts[step.job] += step.gpus
        left -= step.gpus
        taken.append(step)
        if not left:
            return Walk(tuple(counts), 0, tuple(taken), step.slope)
    return Walk(tuple(counts), 0, tuple(taken), taken[-1].slope if case.use_all and taken else 0.0)


def hull(row: Floats, job: int, budget: Budget = UNLIMITED) -> Iterator[HullStep]:
    """Yield the steps along the lower convex hull of one job's costs, from its fewest GPUs to its most.

    If the time limit is reached, no steps are yielded.
    """
    corners: list[tuple[int, float]] = []
    for number, gpus in enumerate(np.flatnonzero(row < np.inf).tolist()):
        if not number % _POINTS and budget.passed:
            return
        point = (gpus, float(row[gpus]))
        while len(corners) > 1 and _slope(corners[-2], corners[-1]) >= _slope(corners[-1], point):
            corners.pop()
        corners.append(point)
    for first, last in pairwise(corners):
        yield HullStep(_slope(first, last), job, last[0] - first[0])


def _slope(first: tuple[int, float], last: tuple[int, float]) -> float:
    return (last[1] - first[1]) / (last[0] - first[0])


def _least_gpus(row: Floats) -> int:
    return int(np.argmax(row < np.inf))


def _made_up(case: BatchingCase, walk: Walk) -> list[int] | None:
    """Assign the remaining GPUs to the one job for which they cost the least.

    If GPUs may stay idle, this happens only if it reduces the cost. Returns None if all GPUs have to be used,
    but no job can take the remaining ones.
    """
    counts = np.array(walk.counts)
    wanted = counts + walk.left
    able = np.flatnonzero(wanted < case.costs.shape[1])
    more = case.costs[able, wanted[able]] - case.costs[able, counts[able]]
    if case.use_all and not more.min(initial=np.inf) < np.inf:
        return None
    if case.use_all or more.min(initial=0.0) < 0:
        counts[able[more.argmin()]] += walk.left
    return [int(gpus) for gpus in counts]


def _price_bound(case: BatchingCase, price: float) -> float:
    """Return a lower bound: the price of all GPUs plus each job's minimum cost less the price of its GPUs."""
    gpus = np.arange(case.costs.shape[1])
    beyond = (case.costs - price * gpus).min(axis=1, initial=np.inf)
    terms = len(beyond) + 4
    rounding = abs(price) * (float(gpus[-1]) * len(beyond) + case.gpus) * terms * TERM
    return float(beyond.sum()) + price * case.gpus - case.error - rounding


def _is_proven(case: BatchingCase, walk: Walk, budget: Budget) -> bool:
    """Check, in exact arithmetic, that each job's number of GPUs is its cheapest at the price of the last step.

    Alternatives that are clearly more expensive in floating point are skipped, and the others are compared
    exactly. Returns False if the time limit is reached.
    """
    if case.use_all and not walk.taken:
        return True  # the fewest GPUs of every job are all there are: there is no other division
    price = _exact_price(case, walk)
    gpus = np.arange(case.costs.shape[1])
    beyond = case.costs - float(price) * gpus
    chosen = beyond[np.arange(len(beyond)), list(walk.counts)]
    doubt = case.error + abs(float(price)) * float(gpus[-1]) * 4 * TERM
    close = beyond <= chosen[:, None] + 2 * doubt
    for job, count in enumerate(walk.counts):
        if budget.passed:
            return False
        own = case.cost(job, count) - price * count
        others: list[int] = np.flatnonzero(close[job]).tolist()
        if any(case.cost(job, other) - price * other < own for other in others if other != count):
            return False
    return True


def _exact_price(case: BatchingCase, walk: Walk) -> Fraction:
    """Return the exact price per GPU of the most expensive step taken.

    The price is 0 if no step was taken, or if GPUs may stay idle and no further step is worth taking.
    """
    if not walk.taken or (not case.use_all and walk.slope == 0):
        return Fraction(0)
    dearest = walk.taken[-1].slope
    close = dearest - 2 * case.error - abs(dearest) * 4 * TERM
    return max(
        Fraction(case.cost(step.job, last) - case.cost(step.job, last - step.gpus)) / step.gpus
        for step, last in zip(walk.taken, _ends(walk), strict=True)
        if step.slope >= close
    )


def _ends(walk: Walk) -> list[int]:
    """Return, for each step taken, the number of GPUs that its job has after the step."""
    counts = list(walk.counts)
    ends: list[int] = []
    for step in reversed(walk.taken):
        ends.append(counts[step.job])
        counts[step.job] -= step.gpus
    return ends[::-1]
