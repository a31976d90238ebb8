"""The quick choice of servers."""

import pytest
from hypothesis import given, settings

from formulations.reclaiming.growth import grown
from formulations.reclaiming.reduction import Group, Reduction, reduce
from gsopt.errors import Unsupported
from gsopt.problems.reclaiming import Reclaiming
from tests.strategies.reclaiming import figure_5, reclaiming_problems


@settings(deadline=None, max_examples=100)
@given(reclaiming_problems())
def test_exactly_the_demand_is_chosen(given: Reclaiming) -> None:
    """The choice has as many servers as demanded, and no group gives more than it has."""
    try:
        reduction = reduce(given)
    except Unsupported:
        return
    counts = grown(reduction)

    assert counts is not None
    assert sum(counts) == given.demand
    assert all(count <= len(group.servers) for count, group in zip(counts, reduction.groups, strict=True))


@pytest.mark.parametrize(("demand", "value"), [(0, 0.0), (1, 1.0), (2, 1.0), (3, 2.0), (6, 4.0)])
def test_figure_5_is_solved(demand: int, value: float) -> None:
    """On the example of Figure 5 the least cost per server leads to an optimum for these demands."""
    reduction = reduce(figure_5(demand=demand))
    counts = grown(reduction)

    assert counts is not None
    assert reduction.value(counts) == value


def test_too_few_servers_give_no_choice() -> None:
    """There is no choice of two servers where only one is left."""
    assert grown(Reduction(2, (), (Group((0,), 0.0, ()),), None)) is None
