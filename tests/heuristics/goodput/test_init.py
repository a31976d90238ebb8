"""All heuristics of goodput against the optimum."""

from functools import partial

import pytest

from gsopt.core.method import Method
from gsopt.evaluation.catalogue import heuristics
from heuristics.goodput import genetic, greedy
from tests.effort import cases
from tests.exactness import goodput as oracle
from tests.strategies.goodput import tiny

METHODS: dict[str, Method] = {"greedy": greedy, "genetic": partial(genetic, population=8, generations=4)}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
def test_no_rule_is_broken_and_no_optimum_beaten(method: Method) -> None:
    """On instances with hard numbers heuristics break no rule and beat no optimum."""
    for seed in range(cases(100)):
        problem = tiny(seed)
        found = method(problem).objective
        assert found is not None, seed
        assert found >= oracle.optimum(problem), seed


def test_the_best_of_little_time_stands_first() -> None:
    """Whoever has little time begins with the greedy one."""
    assert list(heuristics("goodput")) == ["greedy", "genetic"]
