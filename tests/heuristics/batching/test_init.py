"""All heuristics of batching against the optimum."""

import pytest

from gsopt.core.method import Method
from gsopt.evaluation.catalogue import heuristics
from tests.effort import cases
from tests.exactness import batching as oracle
from tests.strategies.batching import tiny

HEURISTICS = heuristics("batching")


@pytest.mark.parametrize("method", HEURISTICS.values(), ids=HEURISTICS.keys())
def test_divides_the_gpus_of_every_instance(method: Method) -> None:
    """On instances with hard numbers and menus with gaps heuristics break no rule and beat no optimum."""
    for seed in range(cases(100)):
        problem = tiny(seed)
        found, best = method(problem).objective, oracle.optimum(problem)
        assert found is not None, seed
        assert best is not None
        assert not problem.sense.better(found, best), seed


def test_the_best_of_little_time_stands_first() -> None:
    """Whoever has little time begins with marginal gains."""
    assert next(iter(HEURISTICS)) == "marginal"
