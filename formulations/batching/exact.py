"""Exact: greedy steps with a proof, followed by the dynamic program if the proof fails."""

from dataclasses import replace

from formulations.batching.beginning import begin
from formulations.batching.case import BatchingCase
from formulations.batching.dp import fill
from formulations.batching.greedy import walk_hulls
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.result import Result, Status, StoppedBy, is_within
from gsopt.problems.batching import Batches, Batching


@exact_method(unused=["backend", "log"])
def exact(problem: Batching, budget: Budget) -> Result[Batches]:
    """Try the following techniques until one proves optimality; the message then names it.

    1. A first allocation of the GPUs, and a bound that ignores contention.
    2. Greedy steps, each of which gives GPUs to the job that gains the most per GPU. If costs are strictly
       convex and every number of GPUs is allowed, a price per GPU proves the result optimal.
    3. The dynamic program over jobs and GPUs. If its tables would be too large, the result of step 2 is
       returned.

    Source
    ------
    ONES, Equations 3 and 4, for which the paper uses an evolutionary search.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start and callback.

    Raises
    ------
    Unsupported
        The table of costs, or the table for the first allocation, is too large.

    Examples
    --------
    >>> from instances.batching import elastic_jobs
    >>> result = exact(elastic_jobs(gpus=64, jobs=60, seed=1))
    >>> result.status, len(result.solution.running), result.message
    (<Status.OPTIMAL: 'optimal'>, 60, 'dp')
    """
    case = BatchingCase.of(problem, budget)
    first, ended = begin(case, budget, "exact")
    if ended:
        return first
    found = walk_hulls(case, budget, first, "exact")
    budget.report(value=found.objective, bound=found.bound)
    if found.status is Status.OPTIMAL or budget.passed:
        return found
    if is_within(found.objective, found.bound, budget.gap):
        return replace(found, stopped_by=StoppedBy.GAP)
    try:
        return replace(fill(case, budget, found, "exact"), runtime=budget.runtime)
    except Unsupported as reason:
        return replace(found, message=f"{found.message}; {reason}", runtime=budget.runtime)
