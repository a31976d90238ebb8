"""The committed instances of placement."""

from formulations.placement import exact
from gsopt.core.result import Status
from gsopt.evaluation.catalogue import load
from gsopt.problems.placement import Placement
from heuristics.placement import best_fit_decreasing
from instances.placement.suites import production, small
from tests.strategies.placement import committed as standing


def test_every_large_instance_is_proven() -> None:
    """Value and bound in the file of a large instance are the same."""
    for problem in production():
        about = load(problem.name).about
        assert about is not None
        assert about.objective == about.bound is not None


def test_the_small_suite_tells_variants_apart() -> None:
    """Together the small instances show where the optimum is not what the simplest rule gives."""
    optimum = {problem.name.rpartition("/")[2]: exact(problem) for problem in small()}

    assert best_fit_decreasing(standing("small/six-items")).objective == 3
    assert optimum["six-items"].objective == 2
    assert optimum["too-large-a-worker"].status is optimum["too-many-workers"].status is Status.INFEASIBLE
    whole = standing("small/whole-jobs")
    assert optimum["whole-jobs"].objective == 4
    assert exact(Placement(**{**dict(whole), "split_jobs": True})).objective == 3


def test_best_fit_leaves_workers_of_crowded_clusters_behind() -> None:
    """On the crowded instances best fit does not place everybody, though there is a placement."""
    for name in ("crowded-06-1500", "crowded-06-1700"):
        problem = standing(f"production/{name}")
        assert best_fit_decreasing(problem).objective is None
        assert exact(problem).status is Status.OPTIMAL
