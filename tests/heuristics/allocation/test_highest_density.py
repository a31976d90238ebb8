"""Highest density: its order, and what it misses."""

from gsopt.evaluation.catalogue import load, names
from gsopt.problems.allocation import Allocation, ElasticJob
from gsopt.testing import check_heuristic
from heuristics.allocation import highest_density
from instances.allocation import table_4


def test_solutions_of_every_small_instance() -> None:
    """On every committed small instance the solution is feasible and never beats the optimum."""
    problems = [load(name) for name in (*names("allocation/small"), *names("allocation/aryl"))]
    assert check_heuristic(highest_density, problems) == len(problems) - 1


def test_the_order_of_table_4() -> None:
    """Densities 50 for A, and 20, 15, 12, 10 for B: A first, then three workers for B, worth 86."""
    result = highest_density(table_4())
    assert result.solution is not None
    assert (result.objective, dict(result.solution.extra)) == (86, {"A": 1, "B": 3})


def test_sees_behind_a_worker_that_saves_nothing() -> None:
    """Two workers that save 50 s together are taken though the first saves nothing."""
    job = ElasticJob(name="a", min_workers=1, max_workers=3, values=(0, 50))
    assert highest_density(Allocation(capacity=2, jobs=(job,))).objective == 50


def test_averages_mislead() -> None:
    """A second worker that adds 1 s is taken for its high average; 40 s for another job are lost."""
    first = ElasticJob(name="first", min_workers=1, max_workers=3, values=(100, 101))
    other = ElasticJob(name="other", min_workers=1, max_workers=2, values=(40,))
    assert highest_density(Allocation(capacity=2, jobs=(first, other))).objective == 101


def test_a_larger_item_worth_less_is_not_taken() -> None:
    """Two workers that save less than one are passed over, and the GPU goes elsewhere."""
    first = ElasticJob(name="first", min_workers=1, max_workers=3, values=(100, 90))
    other = ElasticJob(name="other", min_workers=1, max_workers=2, values=(40,))
    assert highest_density(Allocation(capacity=2, jobs=(first, other))).objective == 140


def test_items_of_a_menu() -> None:
    """A menu of 2 or 5 workers: 2 for 40 (20 per GPU) first, then 5 for 75 in their place."""
    menu = ElasticJob(name="menu", min_workers=1, counts=(2, 5), values=(40, 75))
    result = highest_density(Allocation(capacity=5, jobs=(menu,)))
    assert result.solution is not None
    assert (result.objective, dict(result.solution.extra)) == (75, {"menu": 5})
