"""Best: the best schedule and bound of a waiting problem, together with the problem's grid of slots."""

from formulations.common.best import Best
from formulations.waiting.instance import SlottedInstance
from gsopt.core.budget import Budget
from gsopt.problems.waiting import Waiting, WaitingSolution


class BestRuns(Best[Waiting, WaitingSolution]):
    """The best schedule and the best bound that a method has found, and the problem on a grid of slots."""

    def __init__(self, instance: SlottedInstance, budget: Budget, method: str) -> None:
        self.instance = instance
        super().__init__(instance.problem, budget, method)
