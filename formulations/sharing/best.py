"""Best: the best schedule and the best bound that a method for GPU sharing knows."""

from fractions import Fraction

from formulations.best import Best as BestOf
from gsopt.budget import Budget
from gsopt.problems.sharing import Sharing, SharingSolution


class Best(BestOf[Sharing, SharingSolution]):
    """The best schedule and the best bound; at first that each job runs alone, at once.

    Parameters
    ----------
    problem
        The problem.
    budget
        When to stop; its start is the first schedule known.
    method
        Name of the method.
    """

    def __init__(self, problem: Sharing, budget: Budget, method: str) -> None:
        alone = Fraction(sum(problem.durations)) / len(problem.jobs)
        super().__init__(problem, budget, method, bound=alone)
