"""All heuristics of colocation against the optimum."""

import pytest

from gsopt.core.method import Method
from gsopt.evaluation.catalogue import heuristics
from gsopt.testing import check_heuristic
from tests.strategies.colocation import committed

HEURISTICS = heuristics("colocation")


@pytest.mark.parametrize("method", HEURISTICS.values(), ids=HEURISTICS.keys())
def test_pairs_jobs_on_every_small_instance(method: Method) -> None:
    """Every heuristic finds pairs that no rule forbids and that save no more than the optimum."""
    assert check_heuristic(method, committed()) == len(committed())


def test_the_best_stands_first() -> None:
    """Whoever has little time begins with the rule that looks at interference."""
    assert next(iter(HEURISTICS)) == "bsbf"
