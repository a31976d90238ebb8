"""All heuristics of consolidation against the optimum."""

import pytest

from gsopt.core.method import Method
from gsopt.evaluation.catalogue import heuristics
from gsopt.testing import check_heuristic
from tests.strategies.consolidation import committed

HEURISTICS = heuristics("consolidation")


@pytest.mark.parametrize("method", HEURISTICS.values(), ids=HEURISTICS.keys())
def test_places_jobs_on_every_small_instance(method: Method) -> None:
    """Every heuristic finds a placement that no rule forbids and that is no better than the optimum."""
    assert check_heuristic(method, committed()) == len(committed())


def test_the_best_stands_first() -> None:
    """Whoever has little time begins with the greedy order."""
    assert next(iter(HEURISTICS)) == "greedy"
