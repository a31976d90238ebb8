"""Menus with gaps, orders and beginnings."""

import pytest

from gsopt.core.budget import Budget
from gsopt.core.method import Method
from gsopt.problems.batching import Batching
from heuristics.batching import equal_share, marginal, srpt
from heuristics.batching.menus import nearest, shortest_first, started
from tests.strategies.batching import THREE, gpus_of, linear


def test_the_nearest_division_uses_all_gpus() -> None:
    """With doublings the division of nine GPUs next to four each takes from one job what the other needs."""
    problem = Batching(gpus=9, jobs=[linear("a", 9, 5), linear("b", 9, 5)], menu="doublings")
    assert sorted(nearest(problem, [4, 4]) or ()) == [1, 8]


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


def test_what_uses_all_gpus_is_looked_for_while_there_is_time() -> None:
    """Out of time the shorter jobs have what fits; where GPUs are left over then, there is no solution."""
    problem = Batching(gpus=9, jobs=[linear("a", 9, 5), linear("b", 9, 5)], menu="doublings")
    assert nearest(problem, [4, 4], Budget(time_limit=0)) is None
    found = equal_share(problem, budget=Budget(time_limit=0))
    assert gpus_of(found) == {"a": 8, "b": 1}
    gaps = [linear("a", 4, 1, min_gpus=4), linear("b", 5, 5, min_gpus=5), linear("c", 5, 5, min_gpus=5)]
    late = equal_share(Batching(gpus=10, jobs=gaps, forced="none"), budget=Budget(time_limit=0))
    assert late.solution is None
    assert late.message == "the time limit is over before numbers of GPUs are found that use all of them"
