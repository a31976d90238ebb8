"""What the models by groups share: starts, and worths that are rounded."""

from fractions import Fraction

import pytest

from formulations.consolidation import divisible
from formulations.consolidation.divisible import Divisible
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.consolidation import ConsolidationSolution
from instances.consolidation import half_busy


def test_rounded_worths_are_no_less() -> None:
    """Worths that are rounded up bound the true ones, and differ by less than a hundred-millionth."""
    problem = half_busy(racks=2, jobs=20, weights="drawn", seed=1)
    form = divisible.standard_form(problem)
    exact, rounded = (each.exact_costs(problem, form) for each in (divisible, Divisible(rounded=True)))
    largest = Fraction(max(exact))
    for true, raised in zip(exact, rounded, strict=True):
        assert 0 <= Fraction(raised) - Fraction(true) < largest / 100_000_000


def test_an_asked_gap_is_met() -> None:
    """With a gap the solve may stop early, within it and with a bound that holds."""
    problem = half_busy(racks=4, jobs=100, weights="drawn", seed=2)
    near, best = divisible(problem, gap=1e-3), divisible(problem)
    assert best.status is Status.OPTIMAL
    assert near.gap is not None
    assert near.gap <= 1e-3
    assert near.objective is not None
    assert near.bound is not None
    assert near.objective <= best.objective <= near.bound  # type: ignore[operator]  # it is optimal


def test_a_start_with_too_few_jobs_is_no_start_of_the_model() -> None:
    """Where jobs come first, a start with none of them does no harm."""
    problem = half_busy(racks=2, machines=2, jobs=12, maximize="lexicographic", seed=1)
    result = divisible(problem, start=ConsolidationSolution(placed={}))
    assert result.status is Status.OPTIMAL
    assert result.objective == divisible(problem).objective


@pytest.mark.parametrize("maximize", ["value", "lexicographic", "fragmentation"])
def test_an_optimum_is_a_start(maximize: str) -> None:
    """A solution is written as columns that the model takes, at its own value."""
    problem = half_busy(racks=2, machines=4, jobs=15, maximize=maximize, seed=3)  # type: ignore[arg-type]
    best = divisible(problem)
    assert best.solution is not None
    form = divisible.standard_form(problem)
    point = form.point(divisible.encode(best.solution, problem))
    assert form.is_feasible(point)
    assert form.objective(point) == pytest.approx(float(best.objective or 0), rel=1e-9)


def test_out_of_time_there_is_a_placement_and_a_bound() -> None:
    """Without any time the placement by value density is returned with the bound of the knapsack."""
    result = divisible(half_busy(racks=4, jobs=100, seed=1), time_limit=0.0)
    assert result.status is Status.FEASIBLE
    assert result.stopped_by is StoppedBy.TIME_LIMIT
    assert result.bound is not None
