"""Best: the best schedule and the best bound that a method knows, and when they suffice."""

from fractions import Fraction

from gsopt.budget import Budget
from gsopt.grid import Exact, Number, lowest
from gsopt.problems.sharing import Sharing, SharingSolution
from gsopt.result import Result, StoppedBy, is_within, settles


class Best:
    """The best schedule, the best bound, and what is asked of them.

    Parameters
    ----------
    problem
        The problem.
    budget
        When to stop; its start is the first schedule known.
    method
        Name of the method.

    Attributes
    ----------
    solution, value
        The best schedule known and its value in seconds, or None.
    bound
        A number that no schedule is below.
    """

    def __init__(self, problem: Sharing, budget: Budget, method: str) -> None:
        self.problem, self.budget, self.method = problem, budget, method
        self.solution: SharingSolution | None = None
        self.value: Exact | None = None
        alone = Fraction(sum(problem.durations)) / len(problem.jobs)
        self.bound: Exact = alone
        self.asked_to_stop = False
        if budget.start is not None:
            self.solution = budget.start
            self.value = problem.objective(budget.start)

    @property
    def known(self) -> Exact:
        """The value of the best schedule, where one is known."""
        if self.value is None:
            raise AssertionError
        return self.value

    @property
    def finished(self) -> StoppedBy | None:
        """Why to stop now, if there is a reason."""
        if self.value is not None and settles(self.value, self.bound, self.problem.resolution(self.value)):
            return StoppedBy.FINISHED
        if self.asked_to_stop:
            return StoppedBy.INTERRUPT
        if self.budget.gap and is_within(self.value, self.bound, self.budget.gap):
            return StoppedBy.GAP
        return StoppedBy.TIME_LIMIT if self.budget.passed else None

    def take(self, solution: SharingSolution) -> bool:
        """Keep a schedule if it is the best; tell whether it is."""
        value = self.problem.objective(solution)
        if self.value is not None and value >= self.value:
            return False
        self.solution, self.value = solution, value
        if self.budget.on_incumbent is not None:
            told = self.result(StoppedBy.FINISHED)
            self.asked_to_stop = bool(self.budget.on_incumbent(told)) or self.asked_to_stop
        return True

    def raise_bound(self, bound: Number) -> None:
        """Keep a bound that holds for every schedule no worse than the best one known."""
        safe = lowest(bound)
        if self.value is not None:
            safe = min(safe, self.value)
        self.bound = max(self.bound, safe)

    def result(self, stopped_by: StoppedBy, *, solver: str = "", message: str = "") -> Result[SharingSolution]:
        """Hand over what is known."""
        return Result.judged(
            self.problem,
            method=self.method,
            solution=self.solution,
            bound=self.bound,
            stopped_by=stopped_by,
            solver=solver,
            message=message,
            runtime=self.budget.runtime,
        )
