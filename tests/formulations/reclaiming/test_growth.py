"""The quick choice of servers."""

import pytest
from hypothesis import given, settings

from formulations.reclaiming.growth import grown
from formulations.reclaiming.reduction import reduce
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.problems.reclaiming import Reclaiming
from heuristics.reclaiming import greedy
from instances.reclaiming import churn, server_uniform
from tests.effort import cases
from tests.strategies.reclaiming import figure_5, reclaiming_problems


@pytest.mark.parametrize("time_limit", [None, 0.0])
def test_exactly_the_demand_is_chosen(time_limit: float | None) -> None:
    """With and without time the choice has as many servers as demanded, and no group gives more than it has."""

    @settings(deadline=None, max_examples=cases(100))
    @given(reclaiming_problems())
    def check(given: Reclaiming) -> None:
        try:
            reduction = reduce(given)
        except Unsupported:
            return
        counts = grown(reduction, Budget(time_limit=time_limit))

        assert sum(counts) == given.demand
        assert all(count <= len(group.servers) for count, group in zip(counts, reduction.groups, strict=True))

    check()


@pytest.mark.parametrize(("demand", "value"), [(0, 0), (1, 1), (2, 1), (3, 2), (6, 4)])
def test_figure_5_is_solved(demand: int, value: int) -> None:
    """On the example of Figure 5 the least shares lead to an optimum for these demands."""
    reduction = reduce(figure_5(demand=demand))

    assert value == reduction.value(grown(reduction, Budget()))


def test_it_is_as_good_as_algorithm_1_on_the_whole() -> None:
    """Over clusters and hypergraphs the better of two powers costs no more than Algorithm 1 alone."""
    problems = [
        *(churn(servers=200, mode="worker", demand=demand, seed=3, weighted=True) for demand in (20, 80)),
        *(server_uniform(servers=200, jobs=200, degree=degree, demand=60, seed=1) for degree in (3, 5, 8)),
    ]
    quick = greedily = 0.0
    for problem in problems:
        reduction = reduce(problem)
        quick += float(reduction.number(reduction.value(grown(reduction, Budget()))))
        greedily += float(greedy(problem).objective or 0)

    assert quick <= greedily
