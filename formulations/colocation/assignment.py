"""Assignment: the pairs as an assignment problem, solved in doubles and checked in exact arithmetic."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from formulations.colocation.beginning import begin
from formulations.colocation.case import ColocationCase
from formulations.common.prices import proves
from gsopt.core.budget import Budget
from gsopt.core.method import exact_method, no_worse
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.colocation import Colocation, ColocationSolution


@exact_method(unused=["backend", "log"])
def assignment(problem: Colocation, budget: Budget) -> Result[ColocationSolution]:
    """Solve an assignment problem in double precision, and try to prove the optimum in exact arithmetic.

    Pending jobs are assigned to running ones by shortest augmenting paths, so that the total saving of time is
    maximized. If savings differ only in their last digits, rounding can hide the optimum. The proof then fails,
    and the solution is returned with a simple bound.

    Complexity: O(n^3) compiled floating-point operations for n jobs, and O(n^2) exact operations per round of
    the proof, with at most n + 1 rounds.

    Source
    ------
    D. Crouse, On implementing 2D rectangular assignment algorithms (2016), as implemented in scipy. The problem
    is that of Castor, Algorithms 1 and 2.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start and callback.

    Examples
    --------
    >>> from instances.colocation import full_cluster
    >>> result = assignment(full_cluster(running=60, pending=60, seed=1))
    >>> result.status, len(result.solution.shares)
    (<Status.OPTIMAL: 'optimal'>, 39)
    """
    case = ColocationCase.of(problem, budget)
    first, ended = begin(case, budget, "assignment")
    return first if ended else assign(case, budget, first)


def assign(
    case: ColocationCase, budget: Budget, known: Result[ColocationSolution], method: str = "assignment"
) -> Result[ColocationSolution]:
    """Solve a case as an assignment problem, and return the better of its solution and the known one."""
    from scipy.optimize import linear_sum_assignment

    rounded, exact = _matrices(case)
    rows, columns = linear_sum_assignment(rounded, maximize=True)
    chosen = [pair for pair in zip(rows.tolist(), columns.tolist(), strict=True) if pair in case.savings]
    solution = case.solution(chosen)
    late = budget.passed
    proven = not late and proves(exact, chosen)
    result = Result.judged(
        case.problem,
        method=method,
        solution=solution,
        bound=case.problem.objective(solution) if proven else known.bound,
        stopped_by=StoppedBy.TIME_LIMIT if late else StoppedBy.FINISHED,
        solver="scipy",
        message="assignment" if proven or late else "assignment, not proven",
        runtime=budget.runtime,
    )
    return replace(no_worse(result, case.problem, known.solution), runtime=budget.runtime)


def _matrices(case: ColocationCase) -> tuple[NDArray[np.float64], NDArray[np.object_]]:
    """Return the savings as doubles and as integers, with 0 for entries that are not a pair."""
    shape = len(case.problem.running), len(case.problem.pending)
    rounded, exact = np.zeros(shape), np.zeros(shape, dtype=object)
    for pair, saving in case.savings.items():
        rounded[pair], exact[pair] = float(saving.seconds), case.weights[pair]
    return rounded, exact
