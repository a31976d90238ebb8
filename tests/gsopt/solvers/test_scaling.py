"""Scaling: what solvers prove of objectives of any magnitude."""

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import Exact, decimal
from gsopt.core.problem import Sense
from gsopt.core.result import Status, StoppedBy, is_within
from gsopt.solvers.backends import CpSat, Highs, Scip
from gsopt.solvers.backends.base import Backend, Outcome
from gsopt.solvers.scaling import optimize
from gsopt.solvers.standard_form import StandardForm
from tests.effort import cases
from tests.gsopt.solvers.forms import standard_form
from tests.unwrap import unwrap

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
    limits = (needed, np.inf) if sense is Sense.MINIMIZE else (-np.inf, needed)
    costs = [cost(random) for _ in range(columns)]
    rows = drawn_rows(random, 2, columns)
    bounds = least, least + 2
    return standard_form(costs, rows, limits, bounds, sense=sense, offset=random.choice(OFFSETS))


def drawn_rows(random: Random, rows: int, columns: int, *, most: int = 3) -> list[list[int]]:
    """Draw a matrix of whole numbers from 0 on."""
    return [[random.randint(0, most) for _ in range(columns)] for _ in range(rows)]


def value(form: StandardForm, point: Any) -> Exact:
    """Return the objective value in exact decimals."""
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
    for _ in range(cases(models)):
        form = tiny(random)
        optimum = brute_force(form)
        proof = optimize(form, Budget(backend=backend))
        if optimum is None:
            assert proof.status is Status.INFEASIBLE
            continue
        assert (value(form, unwrap(proof.values)), proof.bound) == (optimum, optimum)
        assert proof.status is Status.OPTIMAL


def test_exact_costs_and_starts() -> None:
    """Costs that no float holds are counted as they are, and a start stays through the last stage."""
    form = standard_form([1 / 3, 1 / 3], [[1, 1]], (1, 1))
    costs = [Fraction(1, 3) + Fraction(1, 10**30), Fraction(1, 3)]
    proof = optimize(form, Budget(), costs=costs, offset=Fraction(1, 7))
    assert (unwrap(proof.values).tolist(), proof.bound) == ([0.0, 1.0], Fraction(1, 3) + Fraction(1, 7))
    form = standard_form([1e9, 1e9 + 1e-6, 1.0], [[1, 1, 0]], (1, 1), (0, 1))
    proof = optimize(form, Budget(), start=np.array([1.0, 0.0, 0.0]))
    assert (unwrap(proof.values).tolist(), proof.bound) == ([1.0, 0.0, 0.0], 10**9)


def test_points_on_the_way_come_with_bounds_that_hold() -> None:
    """Every incumbent that is told is better than the one before, and no bound exceeds the optimum."""
    random = Random(3)
    costs = [random.choice([1e-6, 1.0, 1e6]) * random.random() for _ in range(30)]
    form = standard_form(costs, drawn_rows(random, 20, 30, most=1), (1, np.inf), (0, 1))
    heard: list[tuple[Exact, Any]] = []
    proof = optimize(form, Budget(), on_point=lambda point, bound: heard.append((value(form, point), bound)))
    values = [point for point, _ in heard]
    assert values == sorted(values, reverse=True)
    assert proof.bound == values[-1]
    assert all(bound is None or bound <= values[-1] for _, bound in heard)


def test_a_gap_ends_the_search_with_a_bound_that_holds() -> None:
    """With a gap of one half the bound stays below the optimum and the value within the gap."""
    form = standard_form([3.3, 2.2, 1.1], [[3, 2, 1]], (7, np.inf), (0, 2))
    proof = optimize(form, Budget(gap=0.5))
    found = value(form, proof.values)
    assert unwrap(proof.bound) <= Fraction(77, 10) <= found
    assert is_within(found, proof.bound, 0.5)
    assert proof.status is (Status.OPTIMAL if found == proof.bound else Status.FEASIBLE)


@dataclass(frozen=True)
class Listening(Highs):
    """HiGHS, and the gaps that it is asked for."""

    asked: list[float] = field(default_factory=list)

    def solve(self, form: StandardForm, *, gap: float = 0.0, **options: Any) -> Outcome:
        """Note the gap, and solve."""
        self.asked.append(gap)
        return super().solve(form, gap=gap, **options)


@pytest.mark.parametrize(
    ("least", "most", "offset", "passed"),
    [  # one column, from least to most at a cost of 1 each
        (0, 8, 0.0, 0.5),
        (2, 8, 6.0, 0.5),  # relative to more than the solver sees
        (4, 8, -2.0, 0.25),  # a bound of 4 is one of 2
        (2, 8, -2.0, 0.0),  # the bound may be 0
        (-8, -2, -6.0, 0.5),
        (-8, -4, 2.0, 0.25),
        (-8, -4, 8.0, 0.0),
        (-1, 8, 3.0, 0.0),  # neither sign is sure
        (0, np.inf, 3.0, 0.5),
        (-np.inf, 0, 3.0, 0.0),
    ],
)
@pytest.mark.parametrize("sense", list(Sense))
@pytest.mark.parametrize("integer", [True, False])
def test_a_gap_is_narrowed_for_a_constant_that_the_solver_does_not_see(
    least: float, most: float, offset: float, passed: float, sense: Sense, integer: bool
) -> None:
    """The solver gets a gap that, met without the objective's constant, is met with it too."""
    mirror = 1.0 if sense is Sense.MINIMIZE else -1.0
    lower, upper = sorted((mirror * least, mirror * most))
    form = standard_form(
        [1.0, 0.0],
        [[1.0, 1.0]],
        (-10.0, 10.0),
        ([lower, -20.0], [upper, 20.0]),
        integer=integer,
        sense=sense,
        offset=mirror * offset,
    )
    backend = Listening()
    optimize(form, Budget(gap=0.5, backend=backend))
    assert backend.asked == [pytest.approx(passed)]


@pytest.mark.parametrize("backend", [Highs(), CpSat(), Scip()], ids=lambda backend: backend.name)
@pytest.mark.parametrize("sense", list(Sense))
def test_an_asked_gap_is_met_whatever_the_constant(backend: Backend, sense: Sense) -> None:
    """Value and bound are as close as asked in the problem's own numbers, for constants of both signs."""
    random = Random(5)
    for offset in (0.0, 40.0, -40.0, -99.5, 1e6):
        costs = [random.randint(10, 30) for _ in range(14)]
        limits = (12, np.inf) if sense is Sense.MINIMIZE else (-np.inf, 12)
        rows = drawn_rows(random, 5, 14)
        form = standard_form(costs, rows, limits, (0, 1), sense=sense, offset=offset)
        proof = optimize(form, Budget(gap=0.2, backend=backend))
        found = value(form, proof.values)
        assert is_within(found, proof.bound, 0.2)
        assert proof.status is (Status.OPTIMAL if found == proof.bound else Status.FEASIBLE)


def test_no_time_gives_no_claim_and_keeps_the_start() -> None:
    """At a limit of 0 a model that takes a search is left open, and the start comes back."""
    random = Random(5)
    rows = drawn_rows(random, 60, 80, most=1)
    form = standard_form([random.randint(10, 20) for _ in range(80)], rows, (7, np.inf), (0, 1))
    proof = optimize(form, Budget(time_limit=0.0), start=np.ones(80))
    assert proof.stopped_by is StoppedBy.TIME_LIMIT
    assert (proof.status, proof.values is None) == (Status.FEASIBLE, False)


@pytest.mark.parametrize("factor", [1e-12, 1.0, 1e12])
def test_continuous_costs_are_bounded_at_any_magnitude(factor: float) -> None:
    """The bound of a linear program is below its value by no more than the solver's error, relative to it."""
    form = standard_form(
        [2 * factor, 3 * factor], [[1, 2], [3, 1]], ([4, 6], np.inf), integer=False, offset=factor
    )
    optimum = factor * (1 + 2 * 1.6 + 3 * 1.2)
    proof = optimize(form, Budget())
    assert optimum * (1 - 1e-5) <= float(unwrap(proof.bound)) <= optimum
