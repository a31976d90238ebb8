"""Answer: the judged result of an exact method, its progress reports, and the cases that need no model."""

from formulations.placement.integers import Bracket
from formulations.placement.packing import Filled, FillPatterns, Packing
from gsopt.core.budget import Budget
from gsopt.core.errors import ModelMismatch
from gsopt.core.result import Result, plain
from gsopt.problems.placement import Placement, PlacementSolution


def without_model(problem: Placement, method: str, budget: Budget) -> Result[PlacementSolution] | None:
    """Return the result if there are no workers, or if a worker that must be placed fits nowhere; else None."""
    if problem.workers and not problem.misfit:
        return None
    nothing = PlacementSolution(placed=())
    return Result.judged(
        problem,
        method=method,
        solution=None if problem.workers else nothing,
        bound=None if problem.workers else problem.objective(nothing),
        infeasible=bool(problem.workers),
        message=problem.misfit,
        runtime=budget.runtime,
    )


def answer(
    packing: Packing,
    patterns: FillPatterns,
    bracket: Bracket,
    *,
    method: str,
    budget: Budget,
    message: str,
    solver: str = "",
) -> Result[PlacementSolution]:
    """Convert the best solution and bound of the pattern model to a judged result.

    Raises `ModelMismatch` if the judged objective is worse than the model's value, and `Contradiction` if it is
    better than the proven bound.
    """
    solution = None
    if bracket.values is not None:
        solution = packing.solution(bracket.values, patterns)
    result = Result.judged(
        packing.problem,
        method=method,
        solution=solution,
        bound=None if bracket.infeasible else bracket.bound,
        infeasible=bracket.infeasible,
        stopped_by=bracket.stopped_by,
        solver=solver,
        message=message,
        runtime=budget.runtime,
    )
    if result.objective is not None and bracket.objective is not None and result.objective > bracket.objective:
        counted = f"counts {bracket.objective}, the problem {plain(result.objective)}"
        raise ModelMismatch(f"{method}: the model {counted} for the same solution")
    return result


def tell(packing: Packing, filled: Filled, bound: int, *, method: str, budget: Budget) -> bool:
    """Report an improved solution to the caller, and return whether the caller asks to stop."""
    if budget.on_incumbent is None:
        return False
    found = Result.judged(
        packing.problem,
        method=method,
        solution=packing.solution(filled.values, filled.patterns),
        bound=bound,
        runtime=budget.runtime,
    )
    return bool(budget.on_incumbent(found))
