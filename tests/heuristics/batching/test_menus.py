"""Menus with gaps, orders and beginnings."""

import pytest

from gsopt.method import Method
from gsopt.problems.batching import Batching
from heuristics.batching import equal_share, marginal, srpt
from heuristics.batching.menus import nearest, shortest_first, started
from tests.strategies.batching import THREE, gpus_of, linear


def test_the_nearest_division_uses_all_gpus() -> None:
    """With doublings the division of nine GPUs next to four each takes from one job what the other needs."""
    problem = Batching(gpus=9, jobs=[linear("a", 9, 5), linear("b", 9, 5)], menu="doublings")
    assert sorted(nearest(problem, [4, 4])) == [1, 8]


@pytest.mark.parametrize("method", [marginal, equal_share, srpt])
def test_gaps_are_made_up_for(method: Method) -> None:
    """Every rule uses all nine GPUs, though its own steps leave one."""
    problem = Batching(gpus=9, jobs=[linear("a", 9, 5), linear("b", 9, 5)], menu="doublings")
    assert sum(gpus_of(method(problem)).values()) == 9


def test_orders_and_beginnings_by_hand() -> None:
    """Jobs are ordered by their time on their fewest GPUs, and only those begin that must run."""
    jobs = [*THREE, linear("wide", 4, 20, min_gpus=4)]
    assert shortest_first(Batching(gpus=4, jobs=jobs)) == [3, 1, 2, 0]
    assert started(Batching(gpus=2, jobs=jobs)) == [0, 1, 1, 0]
