"""Enumeration, the oracle of tiny instances."""

from collections.abc import Iterator
from typing import ClassVar

import pytest

from gsopt.core.enumeration import brute_force
from gsopt.core.problem import Frozen, Number, Problem, Sense


class Choice(Frozen):
    """A number."""

    value: int


class Pick(Problem[Choice]):
    """Pick one of the even numbers below ten, for which 4 and 6 are worth the same."""

    word: ClassVar[str] = "pick"
    sense: ClassVar[Sense] = Sense.MINIMIZE
    solution_type: ClassVar[type[Frozen]] = Choice
    least: int = 0

    @property
    def unit(self) -> str:
        """What is counted."""
        return "steps"

    def objective(self, solution: Choice) -> Number:
        """Count the steps to five."""
        return abs(solution.value - 5)

    def violations(self, solution: Choice) -> list[str]:
        """Refuse odd numbers and small ones."""
        return ["bad"] if solution.value % 2 or solution.value < self.least else []

    def candidates(self) -> Iterator[Choice]:
        """Try every number."""
        return (Choice(value=value) for value in range(10))


class PickFar(Pick):
    """The same, as far from five as may be."""

    sense: ClassVar[Sense] = Sense.MAXIMIZE


@pytest.mark.parametrize(
    ("problem", "best"),
    [
        (Pick(), (1, 4)),  # of two equally good ones the first
        (Pick(least=5), (1, 6)),
        (PickFar(), (5, 0)),
        (PickFar(least=6), (3, 8)),
        (Pick(least=9), None),  # 9 is odd
    ],
)
def test_the_best_feasible_decision_is_found(problem: Pick, best: tuple[int, int] | None) -> None:
    """Of the feasible decisions the first best one is given with its value; None where there is none."""
    found = brute_force(problem)
    assert (found and (found[0], found[1].value)) == best
