"""Best: the best solution and bound that a method has found, in exact numbers, and the test for stopping."""

from fractions import Fraction
from typing import Any, Generic, TypeVar

from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import Exact, Number, highest, lowest, whole
from gsopt.core.problem import Frozen, Problem, Sense
from gsopt.core.result import (
    Result,
    StoppedBy,
    is_within,
    refuse_contradiction,
    round_bound,
    settles,
    value_of,
)

P = TypeVar("P", bound=Problem[Any])
S = TypeVar("S", bound=Frozen)


class Best(Generic[P, S]):
    """The best solution and the best bound that a method has found, and the method's budget.

    No solution has a better value than `bound`. If the budget contains a start, it is the first solution.
    """

    def __init__(self, problem: P, budget: Budget, method: str, *, bound: Exact = 0) -> None:
        self.problem, self.budget, self.method = problem, budget, method
        self.solution: S | None = None
        self.value: Exact | None = None
        self.bound = bound
        self.asked_to_stop = False
        if budget.start is not None:
            self.solution, self.value = budget.start, self._value(budget.start)

    @property
    def known(self) -> S:
        """The best solution found so far. An assertion fails if there is none."""
        if self.solution is None:
            raise AssertionError
        return self.solution

    @property
    def known_value(self) -> Exact:
        """The value of the best solution found so far. An assertion fails if there is none."""
        if self.value is None:
            raise AssertionError
        return self.value

    @property
    def finished(self) -> StoppedBy | None:
        """The reason to stop now, or None if the method should continue."""
        if self.value is not None and settles(self.value, self.bound, self.problem.resolution(self.value)):
            return StoppedBy.FINISHED
        if self.asked_to_stop:
            return StoppedBy.INTERRUPT
        if self.budget.gap and is_within(self.value, self.bound, self.budget.gap):
            return StoppedBy.GAP
        return StoppedBy.TIME_LIMIT if self.budget.passed else None

    def take(self, solution: S) -> bool:
        """Keep a solution if it is better than the best one so far, and return whether it was kept.

        Raises `Contradiction` if its value is better than the bound by more than the problem's resolution.
        """
        value = self._value(solution)
        self._refuse_better(value, self.bound)
        if self.value is not None and not self.problem.sense.better(value, self.value):
            return False
        self.solution, self.value = solution, value
        if self.budget.on_incumbent is not None:
            told = self.result(StoppedBy.FINISHED)
            self.asked_to_stop = bool(self.budget.on_incumbent(told)) or self.asked_to_stop
        return True

    def raise_bound(self, bound: Number, *, of_better: bool = False) -> None:
        """Keep a bound if it is stronger than the known one.

        The bound is tightened to the next value that an optimum can take. A float is first weakened by its
        rounding error; the caller must already have allowed for any other error. With `of_better`, the bound
        covers only solutions that are better than the best known one, for example because a search excluded the
        others; it is then weakened to the best known value if necessary. Without `of_better`, `Contradiction`
        is raised if the best known value is better than the bound by more than the problem's resolution.
        """
        least = self.problem.sense is Sense.MINIMIZE
        strongest, weakest, safe = (max, min, lowest) if least else (min, max, highest)
        rounded = whole(Fraction(round_bound(self.problem, safe(bound))))
        if self.value is not None:
            if not of_better:
                self._refuse_better(self.value, rounded)
            rounded = weakest(rounded, self.value)
        if strongest(rounded, self.bound) != self.bound:
            self.bound = rounded
            self.budget.report(bound=rounded)

    def result(self, stopped_by: StoppedBy, *, solver: str = "", message: str = "") -> Result[S]:
        """Return the best solution and bound as a result."""
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

    def _refuse_better(self, value: Exact, bound: Exact) -> None:
        sense, resolution = self.problem.sense, self.problem.resolution(value)
        refuse_contradiction(sense, self.method, value, self.method, bound, resolution=resolution)

    def _value(self, solution: S) -> Exact:
        return whole(Fraction(value_of(self.problem, solution)))
