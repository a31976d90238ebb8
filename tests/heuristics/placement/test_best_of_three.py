"""Best of three orders."""

from typing import Literal

import pytest
from hypothesis import given, settings

from gsopt.problems.placement import Placement
from heuristics.placement import best_fit_decreasing, best_of_three
from tests.strategies.placement import committed, placements

ORDERS: tuple[Literal["gpu", "sum", "max"], ...] = ("gpu", "sum", "max")


@given(placements())
@settings(deadline=None, max_examples=50)
def test_it_is_the_best_of_the_orders(problem: Placement) -> None:
    """The value is the lowest of the three orders; there is none only if no order places everybody."""
    values = [best_fit_decreasing(problem, order=order).objective for order in ORDERS]
    assert best_of_three(problem).objective == min((v for v in values if v is not None), default=None)


@pytest.mark.parametrize("name", ["vectors-08-2000", "vectors-20-1500", "fragmentation-12-2000"])
def test_large_instances(name: str) -> None:
    """On instances of production size it is the best of the orders too."""
    problem = committed(f"production/{name}")
    values = [best_fit_decreasing(problem, order=order).objective for order in ORDERS]
    assert best_of_three(problem).objective == min(v for v in values if v is not None)
