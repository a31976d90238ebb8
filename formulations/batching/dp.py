"""DP: a dynamic program over jobs and GPUs, the reference for all other exact methods."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from formulations.batching.beginning import begin
from formulations.batching.case import LARGEST_TABLE, BatchingCase
from formulations.batching.proof import CostTables, optimal_counts
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method, no_worse
from gsopt.core.result import Result, StoppedBy
from gsopt.performance.batching.split import add_jobs, read_back
from gsopt.problems.batching import Batches, Batching

Floats = NDArray[np.float64]

#: Number of additions between two checks of the clock.
_CHUNK = 20_000_000


@exact_method(unused=["backend", "log"])
def dp(problem: Batching, budget: Budget) -> Result[Batches]:
    """Solve a problem by dynamic programming in floating point, and prove the optimum in exact arithmetic.

    The table holds the minimum cost of the first jobs for each number of GPUs that they use. Costs may be
    non-convex, and the allowed numbers of GPUs may have gaps. A second table, which starts from the last job,
    rules out all states that no optimum can pass through, with an allowance for rounding. If the remaining
    states form a single path, it is the optimum. Otherwise, the few remaining choices are compared in integers.
    The value and the bound are then the same exact number.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start and callback.

    Raises
    ------
    Unsupported
        The tables do not fit in memory.

    Notes
    -----
    Source: the problem of ONES, Equations 3 and 4, for which the paper uses an evolutionary search. Because
    costs are separable and there is one capacity, the problem is a multiple-choice knapsack, and this method is
    its textbook dynamic program.

    Complexity: O(J n w) additions and O(J n) memory for J jobs of at most w GPUs each and n GPUs. The proof
    takes the same time again, or longer if many allocations have the same cost up to the last digits.

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
    """Fill both tables and return the result, or the known result if that is better.

    Raises `Unsupported` if the tables do not fit in memory.
    """
    jobs = len(case.costs)
    if (jobs + 1) * (case.gpus + 1) > LARGEST_TABLE:
        raise Unsupported(f"a table of {jobs:,} jobs by {case.gpus:,} GPUs is too large")
    before = filled_table(case.costs, case.gpus, budget)
    if before is None:
        return replace(known, stopped_by=StoppedBy.TIME_LIMIT, runtime=budget.runtime)
    used = case.gpus if case.use_all else int(before[-1].argmin())
    solution = case.solution(read_back(before, case.costs, used).tolist())
    least = case.sign * (float(before[-1, used]) - case.error)
    behind = filled_table(case.costs[::-1], case.gpus, budget)
    proven = None if behind is None else optimal_counts(CostTables(case, before, behind), budget)
    if proven is not None:
        solution = case.solution(proven)
    result = Result.judged(
        case.problem,
        method=method,
        solution=solution,
        bound=least if proven is None else case.problem.objective(solution),
        stopped_by=StoppedBy.TIME_LIMIT if budget.passed and proven is None else StoppedBy.FINISHED,
        message="dp" if proven is not None else "dp, not proven",
        runtime=budget.runtime,
    )
    return replace(no_worse(result, case.problem, known.solution), runtime=budget.runtime)


def filled_table(costs: Floats, gpus: int, budget: Budget) -> Floats | None:
    """Return the minimum costs of the first k jobs, for every k, by number of GPUs used.

    Returns None if time runs out.
    """
    table = np.full((len(costs) + 1, gpus + 1), np.inf)
    table[0, 0] = 0.0
    counts = costs.shape[1]
    together = max(_CHUNK // (counts * (gpus + 1)), 1)
    width = counts if budget.time_limit is None else max(_CHUNK // (gpus + 1), 1)
    for first in range(0, len(costs), together):
        last = min(first + together, len(costs))
        for least in range(0, counts, width) if together == 1 else (0,):
            if budget.passed:
                return None
            if width >= counts:
                add_jobs(costs[first:last], table[first : last + 1])
            elif least <= gpus:
                part = np.full((2, gpus + 1 - least), np.inf)
                part[0] = table[first, : gpus + 1 - least]
                add_jobs(costs[first:last, least : least + width], part)
                np.minimum(table[last, least:], part[1], out=table[last, least:])
    return table
