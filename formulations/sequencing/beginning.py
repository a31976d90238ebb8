"""Beginning: a first solution and a bound, both cheap to compute."""

from formulations.common.best import Best
from formulations.sequencing.case import SequencingCase
from gsopt.core.budget import Budget
from gsopt.problems.sequencing import Sequences, Sequencing


def begin(
    problem: Sequencing, budget: Budget, method: str
) -> tuple[SequencingCase, Best[Sequencing, Sequences]]:
    """Return a problem as matrices, and its first solution and bound.

    The solution is shortest job first, or the budget's start if that is better. The bound ignores contention.
    """
    case = SequencingCase(problem)
    best: Best[Sequencing, Sequences] = Best(problem, budget, method)
    best.raise_bound(case.bound)
    best.take(case.greedy())
    return case, best
