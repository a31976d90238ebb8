"""Assignment: the pairs as entries of a matrix, in doubles, and a proof in exact numbers."""

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
    """Solve the assignment problem in doubles, and prove by prices in exact numbers that it is the optimum.

    Jobs of two kinds are matched, so the graph is bipartite, and shortest augmenting paths take its matrix.
    Rounding can cost the optimum where savings differ in their last digits; then the proof fails, and the
    solution comes with the bound of its beginning. Entries without a pair save 0, and are no pairs afterwards.

    Complexity: O(n^3) in compiled doubles; O(n^2) exact numbers for each round of the proof, at most n of them.

    Source
    ------
    D. Crouse, On implementing 2D rectangular assignment algorithms (2016), as scipy has it; the decision is
    that of Castor, Algorithms 1 and 2.

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
    """Assign the jobs of a case, and keep what is known where it is better."""
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
    """Return savings as doubles, and as whole numbers of any size; 0 where there is no pair."""
    shape = len(case.problem.running), len(case.problem.pending)
    rounded, exact = np.zeros(shape), np.zeros(shape, dtype=object)
    for pair, saving in case.savings.items():
        rounded[pair], exact[pair] = float(saving.seconds), case.weights[pair]
    return rounded, exact
