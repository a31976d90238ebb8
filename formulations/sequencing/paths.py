"""Paths: shortest augmenting paths in integers, which assign jobs to positions one by one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.common.best import Best
from formulations.sequencing.beginning import begin
from formulations.sequencing.case import SequencingCase, depth_of
from gsopt.core.budget import Budget
from gsopt.core.method import exact_method
from gsopt.core.numbers.assignment import orders
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.sequencing import Sequences, Sequencing


@exact_method(unused=["backend", "log"])
def paths(problem: Sequencing, budget: Budget) -> Result[Sequences]:
    """Assign jobs optimally to positions on machines, using integers of any size.

    Jobs are assigned one after another, each along the cheapest augmenting path, as in the Hungarian method. At
    first, each machine has one position more than the longest order of the best known solution. As long as some
    machine uses all its positions, the number of positions per machine is doubled (up to the number of jobs),
    and the search is repeated.

    Complexity: O(n^2 m K) steps for n jobs on m machines with K positions each. The steps are much faster if
    all numbers fit into 64 bits.

    Source
    ------
    R. Jonker and A. Volgenant, A shortest augmenting path algorithm for dense and sparse linear assignment
    problems (1987). The positions are those of AlloX (EuroSys 2020), section 4.2.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start and callback.

    Examples
    --------
    >>> from instances.sequencing import unit_jobs
    >>> result = paths(unit_jobs(jobs=40, seed=1))
    >>> result.status, result.objective == result.bound
    (<Status.OPTIMAL: 'optimal'>, True)
    """
    case, best = begin(problem, budget, "paths")
    return best.result(best.finished, message="shortest first") if best.finished else follow(case, best)


def follow(case: SequencingCase, best: Best[Sequencing, Sequences]) -> Result[Sequences]:
    """Find the best orders of a case by augmenting paths; if time runs out, return the best known ones."""
    jobs, machines = case.seconds.shape
    depth = depth_of(best.known, jobs)
    while True:
        columns = assign(case.costs(depth, best.known_value), best.budget)
        if columns is None:
            return best.result(StoppedBy.TIME_LIMIT)
        if depth == jobs or max(columns) < (depth - 1) * machines:
            break
        depth = min(jobs, 2 * depth)
    solution = case.solution(orders(columns, machines))
    best.take(solution)
    best.raise_bound(case.problem.objective(solution))
    return best.result(StoppedBy.FINISHED, message="augmenting paths")


def assign(costs: NDArray[Any], budget: Budget) -> list[int] | None:
    """Return a different column for each row at the minimum total cost, or None if time runs out."""
    rows, columns = costs.shape
    owner = np.full(columns, -1)
    prices = np.zeros(columns, dtype=costs.dtype)
    for row in range(rows):
        if budget.passed:
            return None
        _augment(costs, prices, owner, row)
    found = np.flatnonzero(owner >= 0)
    return [int(column) for column in found[np.argsort(owner[found])]]


def _augment(costs: NDArray[Any], prices: NDArray[Any], owner: NDArray[np.int64], row: int) -> None:
    """Assign a column to a row, moving other rows along the path of minimum reduced cost."""
    before = np.full(owner.size, -1)
    is_open = np.ones(owner.size, dtype=bool)
    lengths = costs[row] - prices
    while True:
        places = np.flatnonzero(is_open)
        column = places[lengths[places].argmin()]
        is_open[column] = False
        if owner[column] < 0:
            break
        further = costs[owner[column]] - prices
        further = further - further[column] + lengths[column]
        shorter = is_open & (further < lengths)
        lengths[shorter], before[shorter] = further[shorter], column
    closed = ~is_open
    prices[closed] += lengths[closed] - lengths[column]
    while before[column] >= 0:
        owner[column] = owner[before[column]]
        column = before[column]
    owner[column] = row
