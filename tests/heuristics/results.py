"""What results must have: a solution and its objective value."""

from typing import Any, TypeVar

from gsopt.core.problem import Frozen
from gsopt.core.result import Result
from tests.unwrap import unwrap

S = TypeVar("S", bound=Frozen)


def solved(result: Result[S]) -> S:
    """Return the solution, which must be there."""
    return unwrap(result.solution)


def value(result: Result[S]) -> Any:
    """Return the objective value, which must be there."""
    return unwrap(result.objective)
