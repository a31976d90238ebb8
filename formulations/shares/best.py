"""Best: the best shares and bound so far, starting from isolated shares and a bound that ignores contention."""

from formulations.common.best import Best
from formulations.shares.needs import level_alone
from gsopt.core.budget import Budget
from gsopt.problems.shares import Shares, TimeShares


class BestShares(Best[Shares, TimeShares]):
    """The best shares and the best bound that a method has found.

    The method starts from the isolated shares (or the budget's start if that is better) and from a bound that
    ignores contention.
    """

    def __init__(self, problem: Shares, budget: Budget, method: str) -> None:
        super().__init__(problem, budget, method, bound=level_alone(problem))
        if self.solution is None or not budget.passed:
            self.take(problem.fitted(problem.isolated_shares))
