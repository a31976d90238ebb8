"""Start: placements that keep every rule, and are no worse than best-fit decreasing should be."""

import numpy as np
import pytest
from hypothesis import given, settings

from formulations.placement.packing import Packing
from formulations.placement.start import complete, constructed
from gsopt.core.budget import Budget
from gsopt.problems.placement import Placement
from gsopt.testing import brute_force
from heuristics.placement import best_fit_decreasing
from instances.placement import elastic, fine_sizes, vector_packing, vectors
from tests.effort import cases
from tests.strategies.placement import placements


@given(placements())
@settings(deadline=None, max_examples=cases(80))
def test_what_is_found_is_a_placement(problem: Placement) -> None:
    """Whatever is minimized the placement keeps every rule, and the packing counts what the judge counts."""
    if problem.misfit:
        return
    packing = Packing.of(problem)
    found = constructed(packing, Budget())
    if found is None:
        return
    solution = packing.solution(found.values, found.patterns)
    best = brute_force(problem)

    assert problem.violations(solution) == []
    assert best is not None
    assert best[0] <= problem.objective(solution) <= packing.value(found)


@given(placements())
@settings(deadline=None, max_examples=cases(60))
def test_placements_are_written_and_read(problem: Placement) -> None:
    """A placement written as a solution of the packing has its value, and is read as one of that value."""
    best = brute_force(problem)
    if best is None:
        return
    packing = Packing.of(problem)
    filled = packing.encode(best[1])

    assert packing.value(filled) == best[0]
    assert problem.objective(packing.solution(filled.values, filled.patterns)) == best[0]


@pytest.mark.parametrize(
    "problem",
    [
        vectors(types=50, workers=1500),
        vectors(types=12, workers=800, occupied=0.4),
        vectors(types=12, workers=800, minimize="fragmentation"),
        fine_sizes(),
        vector_packing(family=1, workers=120),
    ],
    ids=["vectors", "occupied", "fragmentation", "fine sizes", "class 1"],
)
def test_it_is_about_as_good_as_the_papers_order(problem: Placement) -> None:
    """On instances of production size it is at most a hundredth worse than best-fit decreasing by GPUs."""
    packing = Packing.of(problem)
    found, paper = constructed(packing, Budget()), best_fit_decreasing(problem).objective

    assert found is not None
    assert paper is None or packing.value(found) <= 1.01 * paper


@pytest.mark.parametrize("split_jobs", [True, False])
def test_preferences_are_followed(split_jobs: bool) -> None:
    """With elastic jobs there is a placement too."""
    problem = elastic(seed=2, split_jobs=split_jobs)
    packing = Packing.of(problem)
    found = constructed(packing, Budget())

    assert found is not None
    assert problem.violations(packing.solution(found.values, found.patterns)) == []


def test_the_rest_is_placed_on_what_is_left() -> None:
    """Some workers are placed on the servers that are left, or it is said that there are too few."""
    packing = Packing.of(vectors(types=2, workers=40))
    needs = np.array([3, 2])
    found = complete(packing, needs, packing.limits)

    assert found is not None
    assert (found.values @ found.patterns.counts == needs).all()
    assert complete(packing, needs, np.zeros_like(packing.limits)) is None
