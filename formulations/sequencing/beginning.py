"""Beginning: orders and a bound that cost next to nothing."""

from formulations.common.best import Best
from formulations.sequencing.case import Case
from gsopt.core.budget import Budget
from gsopt.problems.sequencing import Sequences, Sequencing


def begin(problem: Sequencing, budget: Budget, method: str) -> tuple[Case, Best[Sequencing, Sequences]]:
    """Return a problem as matrices, and what is known of it: shortest first, and every job as if it were alone.

    Examples
    --------
    >>> from instances.sequencing import unit_jobs
    >>> _, best = begin(unit_jobs(jobs=2, seed=1), Budget(), "begin")
    >>> best.finished
    <StoppedBy.FINISHED: 'finished'>
    """
    case = Case(problem)
    best: Best[Sequencing, Sequences] = Best(problem, budget, method)
    best.raise_bound(case.bound)
    best.take(case.greedy())
    return case, best
