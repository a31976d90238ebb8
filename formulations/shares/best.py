"""Best: the best shares and the best bound, begun with isolated shares and every job alone."""

from formulations.common.best import Best
from formulations.shares.needs import level_alone
from gsopt.core.budget import Budget
from gsopt.problems.shares import Shares, TimeShares


class BestShares(Best[Shares, TimeShares]):
    """The best shares and the best bound that a method knows.

    It begins with the isolated shares, or the start where that is better, and with the level that jobs have
    alone.
    """

    def __init__(self, problem: Shares, budget: Budget, method: str) -> None:
        super().__init__(problem, budget, method, bound=level_alone(problem))
        if self.solution is None or not budget.passed:
            self.take(problem.fitted(problem.isolated_shares))
