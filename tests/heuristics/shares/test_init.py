"""All heuristics of shares against the optimum."""

import pytest

from formulations.shares import exact
from gsopt.core.method import Method
from gsopt.evaluation.catalogue import heuristics
from tests.strategies.shares import committed

HEURISTICS = heuristics("shares")


@pytest.mark.parametrize("method", HEURISTICS.values(), ids=HEURISTICS.keys())
def test_divides_time_on_every_small_instance(method: Method) -> None:
    """Every heuristic finds shares that break no rule, and none that are better than the proven bound."""
    for problem in committed():
        found, bound = method(problem), exact(problem).bound
        assert bound is not None
        if found.objective is not None:
            assert not problem.sense.better(found.objective, bound), problem.name


def test_the_fastest_come_first() -> None:
    """A short time limit leaves out the search that takes the longest."""
    assert list(HEURISTICS)[-1] == "progressive_filling"
