"""Scaling: what solvers prove of objectives of any magnitude."""

from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from gsopt.backends import CpSat, Highs, Scip
from gsopt.backends.base import Backend
from gsopt.budget import Budget
from gsopt.grid import Exact, decimal
from gsopt.problem import Sense
from gsopt.result import Status, StoppedBy
from gsopt.scaling import optimize
from gsopt.standard_form import StandardForm

OFFSETS = [0.0, 1e9, 0.1, -1e-9]


def cost(random: Random) -> float:
    """Draw a cost between 1e-9 and 1e9, a round one, a decimal, or none."""
    magnitude = 10 ** random.uniform(-9, 9)
    return random.choice([magnitude, -magnitude, round(random.uniform(0, 10), 1), 1e9, 1e-9, 0.0])


def tiny(random: Random) -> StandardForm:
    """Draw a model with at most five columns that take the values 0, 1 and 2, or -1, 0 and 1."""
    columns = random.randint(1, 5)
    least = random.choice([0, -1])
    sense = random.choice(list(Sense))
    needed = [random.randint(0, 4) for _ in range(2)]
    up = sense is Sense.MINIMIZE
    return StandardForm.build(
        cost=[cost(random) for _ in range(columns)],
        matrix=[[random.randint(0, 3) for _ in range(columns)] for _ in range(2)],
        row_lower=needed if up else [-np.inf, -np.inf],
        row_upper=[np.inf, np.inf] if up else needed,
        column_lower=[least] * columns,
        column_upper=[least + 2] * columns,
        sense=sense,
        offset=random.choice(OFFSETS),
    )


def value(form: StandardForm, point: Any) -> Exact:
    """Objective value in exact decimals."""
    total = decimal(form.offset)
    for column, count in zip(form.cost.tolist(), point, strict=True):
        total += decimal(column) * round(count)
    return total


def brute_force(form: StandardForm) -> Exact | None:
    """Try every point."""
    ranges = [range(round(lower), round(lower) + 3) for lower in form.column_lower]
    values = [value(form, point) for point in product(*ranges) if form.violation(point) == 0]
    if not values:
        return None
    return min(values) if form.sense is Sense.MINIMIZE else max(values)


@pytest.mark.parametrize(("backend", "models"), [(Highs(), 400), (CpSat(), 40), (Scip(), 40)])
def test_value_and_bound_are_the_exact_optimum(backend: Backend, models: int) -> None:
    """Whatever the magnitudes of the costs, the point found is optimal and the bound is its value, exactly."""
    random = Random(7)
    for _ in range(models):
        form = tiny(random)
        optimum = brute_force(form)
        proof = optimize(form, Budget(backend=backend))
        if optimum is None:
            assert proof.status is Status.INFEASIBLE
            continue
        assert proof.values is not None
        assert (value(form, proof.values), proof.bound) == (optimum, optimum)
        assert proof.status is Status.OPTIMAL


def test_costs_may_be_given_exactly() -> None:
    """Costs that no float holds are counted as they are."""
    form = StandardForm.build(cost=[1 / 3, 1 / 3], matrix=[[1, 1]], row_lower=[1], row_upper=[1])
    costs = [Fraction(1, 3) + Fraction(1, 10**30), Fraction(1, 3)]
    proof = optimize(form, Budget(), costs=costs, offset=Fraction(1, 7))
    assert proof.values is not None
    assert (proof.values.tolist(), proof.bound) == ([0.0, 1.0], Fraction(1, 3) + Fraction(1, 7))


def test_stages_keep_a_start() -> None:
    """A start that is optimal is still the answer after the last stage."""
    form = StandardForm.build(
        cost=[1e9, 1e9 + 1e-6, 1.0], matrix=[[1, 1, 0]], row_lower=[1], row_upper=[1], column_upper=[1, 1, 1]
    )
    proof = optimize(form, Budget(), start=np.array([1.0, 0.0, 0.0]))
    assert proof.values is not None
    assert (proof.values.tolist(), proof.bound) == ([1.0, 0.0, 0.0], 10**9)


def test_points_on_the_way_come_with_bounds_that_hold() -> None:
    """Every incumbent that is told is better than the one before, and no bound exceeds the optimum."""
    random = Random(3)
    costs = [random.choice([1e-6, 1.0, 1e6]) * random.random() for _ in range(30)]
    rows = [[random.randint(0, 1) for _ in costs] for _ in range(20)]
    form = StandardForm.build(
        cost=costs, matrix=rows, row_lower=np.ones(20), row_upper=np.full(20, np.inf), column_upper=np.ones(30)
    )
    heard: list[tuple[Exact, Any]] = []
    proof = optimize(form, Budget(), on_point=lambda point, bound: heard.append((value(form, point), bound)))
    values = [point for point, _ in heard]
    assert values == sorted(values, reverse=True)
    assert proof.bound == values[-1]
    assert all(bound is None or bound <= values[-1] for _, bound in heard)


def test_a_gap_ends_the_search_with_a_bound_that_holds() -> None:
    """With a gap of one half the bound stays below the optimum and the value within the gap."""
    form = StandardForm.build(
        cost=[3.3, 2.2, 1.1], matrix=[[3, 2, 1]], row_lower=[7], row_upper=[np.inf], column_upper=[2, 2, 2]
    )
    proof = optimize(form, Budget(gap=0.5))
    assert proof.values is not None
    assert proof.bound is not None
    assert proof.bound <= Fraction(77, 10) <= value(form, proof.values)
    assert value(form, proof.values) - proof.bound <= value(form, proof.values) / 2
    closed = value(form, proof.values) == proof.bound
    assert proof.status is (Status.OPTIMAL if closed else Status.FEASIBLE)
    closed = value(form, proof.values) == proof.bound
    assert proof.status is (Status.OPTIMAL if closed else Status.FEASIBLE)


def test_no_time_gives_no_claim_and_keeps_the_start() -> None:
    """At a limit of 0 a model that takes a search is left open, and the start comes back."""
    random = Random(5)
    rows = [[random.randint(0, 1) for _ in range(80)] for _ in range(60)]
    form = StandardForm.build(
        cost=[random.randint(10, 20) for _ in range(80)],
        matrix=rows,
        row_lower=np.full(60, 7.0),
        row_upper=np.full(60, np.inf),
        column_upper=np.ones(80),
    )
    proof = optimize(form, Budget(time_limit=0.0), start=np.ones(80))
    assert proof.stopped_by is StoppedBy.TIME_LIMIT
    assert proof.status is Status.FEASIBLE
    assert proof.values is not None


@pytest.mark.parametrize("factor", [1e-12, 1.0, 1e12])
def test_continuous_costs_are_bounded_at_any_magnitude(factor: float) -> None:
    """The bound of a linear program is below its value by no more than the solver's error, relative to it."""
    form = StandardForm.build(
        cost=[2 * factor, 3 * factor],
        matrix=[[1, 2], [3, 1]],
        row_lower=[4, 6],
        row_upper=[np.inf, np.inf],
        integer=[False, False],
        offset=factor,
    )
    optimum = factor * (1 + 2 * 1.6 + 3 * 1.2)
    proof = optimize(form, Budget())
    assert proof.bound is not None
    assert optimum * (1 - 1e-5) <= float(proof.bound) <= optimum
