"""Startable: what every heuristic does when the queued jobs cannot all start."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from gsopt.method import heuristic
from gsopt.problems.allocation import Allocation, AllocationSolution
from gsopt.result import Result

Options = ParamSpec("Options")


def startable_heuristic(
    function: Callable[Concatenate[Allocation, Options], AllocationSolution],
) -> Callable[Concatenate[Allocation, Options], Result[AllocationSolution]]:
    """Turn a function ``problem -> solution`` into a method; it need not care about jobs that cannot start.

    Without room for the minimum workers of all queued jobs there is no solution, and that is a proof: the
    result is infeasible and names the first job that cannot start.

    Examples
    --------
    >>> from gsopt.problems.allocation import ElasticJob
    >>> @startable_heuristic
    ... def nothing(problem: Allocation) -> AllocationSolution:
    ...     return AllocationSolution(extra={})
    >>> job = ElasticJob(name="A", min_workers=2, max_workers=3, time_at_min=150, queued=True)
    >>> nothing(Allocation(capacity=1, jobs=[job])).message
    "queued job 'A' needs 2 GPUs to start, 1 are left"
    """
    judged = heuristic(function)

    @wraps(function)
    def method(
        problem: Allocation, /, *args: Options.args, **kwargs: Options.kwargs
    ) -> Result[AllocationSolution]:
        if not problem.obstacle:
            return judged(problem, *args, **kwargs)
        return Result.judged(
            problem, method=function.__name__, infeasible=True, runtime=0.0, message=problem.obstacle
        )

    return method
