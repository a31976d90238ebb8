"""DP: a dynamic program over jobs and GPUs."""

from contextlib import suppress
from dataclasses import replace

from formulations.batching.beginning import begin
from formulations.batching.case import BatchingCase
from formulations.batching.proof import CostTables, optimal_counts
from formulations.batching.rows import CostRows
from gsopt.core.budget import Budget
from gsopt.core.errors import TimeUp
from gsopt.core.method import exact_method, no_worse
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.batching import Batches, Batching


@exact_method(unused=["backend", "log"])
def dp(problem: Batching, budget: Budget) -> Result[Batches]:
    """Solve a problem by dynamic programming in floating point, and prove the optimum in exact arithmetic.

    Costs may be non-convex, and the allowed numbers of GPUs may have gaps. The value and the bound are the same
    exact number, unless time runs out or the integers of the proof get too long.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start and callback.

    Raises
    ------
    Unsupported
        A table is too large.

    Notes
    -----
    Source: the problem of ONES, Equations 3 and 4, for which the paper uses an evolutionary search. It is a
    multiple-choice knapsack, and this method is its textbook dynamic program.

    Complexity: O(J n w) additions and O(J n) memory for n GPUs and J jobs with up to w GPUs each. For large
    tables, O(sqrt(J) n) memory suffices. The proof takes the same time again, or longer if many allocations
    have almost the same cost.

    Examples
    --------
    >>> from gsopt.performance.batching import BatchingJob, StepTime
    >>> model = StepTime(fixed=0.05, per_sample=0.001)
    >>> a = BatchingJob(name="a", batch_limit=512, local_limit=256, throughput=model, remaining=200_000)
    >>> b = BatchingJob(name="b", batch_limit=300, local_limit=100, throughput=model, remaining=90_000)
    >>> result = dp(Batching(gpus=4, jobs=[a, b]))
    >>> result.status, float(result.objective), sorted(result.solution.running)
    (<Status.OPTIMAL: 'optimal'>, 374.0625, ['a', 'b'])
    """
    case = BatchingCase.of(problem, budget)
    first, ended = begin(case, budget, "dp")
    return first if ended else fill(case, budget, first, "dp")


def fill(case: BatchingCase, budget: Budget, known: Result[Batches], method: str = "dp") -> Result[Batches]:
    """Run the dynamic program and return the result, or the known result if that is better.

    Raises `Unsupported` if the tables are too large.
    """
    before = CostRows.of(case.costs, case.gpus, budget)
    if before is None:
        return replace(known, stopped_by=StoppedBy.TIME_LIMIT, runtime=budget.runtime)
    used = case.gpus if case.use_all else int(before[-1].argmin())
    least = case.sign * (float(before[-1][used]) - case.error)
    solution, proven = known.solution, None
    with suppress(TimeUp):
        solution = case.solution(before.read_back(used))
        behind = CostRows.of(case.costs[::-1], case.gpus, budget)
        proven = None if behind is None else optimal_counts(CostTables(case, before, behind), budget)
    if proven is not None:
        solution = case.solution(proven)
    result = Result.judged(
        case.problem,
        method=method,
        solution=solution,
        bound=least if proven is None else case.problem.objective(case.solution(proven)),
        stopped_by=StoppedBy.TIME_LIMIT if budget.passed and proven is None else StoppedBy.FINISHED,
        message="dp" if proven is not None else "dp, not proven",
        runtime=budget.runtime,
    )
    return replace(no_worse(result, case.problem, known.solution), runtime=budget.runtime)
