"""The matching in whole numbers."""

from formulations.colocation import exact, matching
from gsopt.core.result import Status, StoppedBy
from gsopt.testing import check_formulation
from instances.colocation import full_cluster
from tests.exactness import colocation as oracle
from tests.strategies.colocation import committed, tiny


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On every committed small instance the matching is what enumeration finds."""
    assert check_formulation(matching, committed()) == len(committed())


def test_has_the_optimum_of_hard_numbers() -> None:
    """On 100 instances with numbers that are hard on floats the matching is the optimum, to the last digit."""
    for seed in range(200, 300):
        problem = tiny(seed)
        result = matching(problem)
        assert (result.status, result.objective) == (Status.OPTIMAL, oracle.optimum(problem)), seed


def test_agrees_with_the_assignment() -> None:
    """On clusters too large for enumeration the matching and the proven assignment have one value."""
    for seed in range(4):
        problem = full_cluster(running=20, pending=25, models=3, worst=1.8, seed=seed)
        assert matching(problem).objective == exact(problem).objective


def test_out_of_time_the_first_pairs_are_kept() -> None:
    """Without any time the pairs of the beginning are returned."""
    result = matching(full_cluster(running=30, pending=30, seed=1), time_limit=0.0)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
