"""Generation: the relaxation over generated patterns is the relaxation over all of them."""

import pytest
from hypothesis import given, settings

from formulations.placement.bounds import round_up
from formulations.placement.generation import Generation, Relaxed
from formulations.placement.maximal import maximal_patterns
from formulations.placement.packing import Packing, Patterns
from formulations.placement.pricers import pricer
from gsopt.core.budget import Budget
from gsopt.core.result import StoppedBy
from gsopt.problems.placement import Placement
from gsopt.solvers.backends import Highs
from instances.placement import elastic, vectors
from tests.effort import cases
from tests.strategies.placement import committed, placements


def generated(problem: Placement, *, limit: float | None = None) -> tuple[Packing, Relaxed]:
    """Generate patterns for a problem."""
    packing = Packing.of(problem)
    pricers = tuple(pricer(packing, zone) for zone in packing.zones)
    return packing, Generation(packing, pricers, Budget(time_limit=limit)).run(
        Patterns.of((), len(packing.demands))
    )


@pytest.mark.parametrize(
    "problem",
    [
        vectors(types=6, workers=600, seed=1),
        vectors(types=6, workers=400, occupied=0.3, seed=2),
        vectors(types=6, workers=600, minimize="fragmentation", seed=3),
        elastic(jobs=200, seed=4),
        elastic(jobs=200, split_jobs=True, elastic_share=0.9, seed=5),
    ],
    ids=["servers", "occupied", "fragmentation", "whole jobs", "preferences"],
)
def test_the_bound_is_the_relaxation_over_all_patterns(problem: Placement) -> None:
    """The rounded bound is that of the relaxation over all maximal patterns."""
    packing, relaxed = generated(problem)
    every = maximal_patterns(packing, limit=20_000, budget=Budget())
    assert every is not None
    best = Highs().solve(packing.form(every).relaxation).objective
    assert best is not None

    assert round_up(packing, relaxed.bound) == round_up(packing, best - 1e-6)
    assert relaxed.bound <= best + 1e-6 * max(1.0, abs(best))
    assert relaxed.value >= relaxed.bound - 1e-6 * max(1.0, abs(best))


@given(placements())
@settings(deadline=None, max_examples=cases(80))
def test_infeasible_relaxations_are_proven(problem: Placement) -> None:
    """A relaxation that generation calls infeasible is infeasible over all maximal patterns."""
    if problem.misfit:
        return
    packing, relaxed = generated(problem)
    every = maximal_patterns(packing, limit=10_000, budget=Budget())
    assert every is not None
    whole = Highs().solve(packing.form(every).relaxation).objective

    assert relaxed.infeasible or relaxed.optimum is not None
    if relaxed.infeasible:
        assert whole is None


def test_too_many_workers() -> None:
    """Three workers of 5 GPUs on two servers of 8 are infeasible already in the relaxation."""
    _, relaxed = generated(committed("small/too-many-workers"))

    assert relaxed.infeasible
    assert relaxed.stopped_by is StoppedBy.FINISHED


def test_without_time_nothing_is_known() -> None:
    """Without time there is neither an optimum nor a proof."""
    _, relaxed = generated(vectors(types=10, workers=100), limit=0.0)

    assert (relaxed.optimum, relaxed.infeasible, relaxed.stopped_by) == (None, False, StoppedBy.TIME_LIMIT)
