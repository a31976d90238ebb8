"""Rounding: feasible integers, close to the bound, from a relaxation."""

import pytest
from hypothesis import given, settings

from formulations.placement.bounds import round_up
from formulations.placement.linear import solve_relaxation
from formulations.placement.maximal import maximal_patterns
from formulations.placement.packing import Packing
from formulations.placement.rounding import Rounded, rounded
from gsopt.core.budget import Budget
from gsopt.problems.placement import Placement
from gsopt.testing import brute_force
from instances.placement import vectors
from tests.effort import cases
from tests.strategies.placement import placements


def from_relaxation(problem: Placement, *, goal: int = -(10**9), seed: int = 0) -> tuple[Packing, Rounded]:
    """Round the relaxation over all maximal patterns."""
    packing = Packing.of(problem)
    every = maximal_patterns(packing, limit=20_000, budget=Budget())
    assert every is not None
    relaxed = solve_relaxation(packing.form(every), Budget())
    if relaxed is None:
        return packing, Rounded(every, None, every)
    return packing, rounded(packing, every, relaxed, goal=goal, budget=Budget(), seed=seed)


@given(placements())
@settings(deadline=None, max_examples=cases(80))
def test_what_is_found_is_a_placement(problem: Placement) -> None:
    """The integers are feasible for the program, and read as a placement that is no better than the optimum."""
    if problem.misfit:
        return
    best = brute_force(problem)
    packing, found = from_relaxation(problem)
    if found.values is None:
        return
    form = packing.form(found.patterns)
    solution = packing.solution(found.values, found.patterns)

    assert best is not None
    assert form.is_feasible(found.values)
    assert problem.violations(solution) == []
    assert best[0] <= problem.objective(solution) <= form.objective(found.values)


@pytest.mark.parametrize("seed", range(3))
def test_it_meets_the_bound_of_large_instances(seed: int) -> None:
    """With 2,000 workers of 8 types the rounded relaxation is within one server of the bound."""
    packing, found = from_relaxation(vectors(types=8, workers=2000, seed=seed))
    every = maximal_patterns(packing, limit=20_000, budget=Budget())
    assert every is not None
    relaxed = solve_relaxation(packing.form(every), Budget())

    assert found.values is not None
    assert relaxed is not None
    assert (
        packing.form(found.patterns).objective(found.values) <= round_up(packing, relaxed.objective - 1e-6) + 1
    )


def test_it_stops_at_the_goal() -> None:
    """A goal that the first run meets ends the search, and a goal out of reach does not."""
    problem = vectors(types=8, workers=500, seed=1)
    _, quick = from_relaxation(problem, goal=10**9)
    _, long = from_relaxation(problem)

    assert len(quick.others) < len(long.others)


def test_the_seed_decides() -> None:
    """The same seed gives the same integers."""
    problem = vectors(types=8, workers=500, seed=1)
    first, second = (from_relaxation(problem, seed=3)[1].values for _ in range(2))

    assert first is not None
    assert second is not None
    assert first.tolist() == second.tolist()
