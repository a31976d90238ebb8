"""What results must have: a solution and its objective value."""

from typing import Any, TypeVar

from gsopt.core.problem import Frozen
from gsopt.core.result import Result

S = TypeVar("S", bound=Frozen)


def solved(result: Result[S]) -> S:
    """Return the solution, which must be there."""
    assert result.solution is not None
    return result.solution


def value(result: Result[S]) -> Any:
    """Return the objective value, which must be there."""
    assert result.objective is not None
    return result.objective
