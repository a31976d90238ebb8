"""CP-SAT: exact scaling to integers, missing bounds, and what it cannot take."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import BrokenModel, InvalidInput, Unsupported
from gsopt.core.problem import Sense
from gsopt.core.result import Status, StoppedBy
from gsopt.solvers.backends import CpSat, Highs
from gsopt.solvers.backends.cp_sat import CLAMP, IntegerTask, implied_bounds
from gsopt.solvers.standard_form import StandardForm
from tests.effort import cases
from tests.gsopt.solvers.backends.models import knapsack, meet
from tests.gsopt.solvers.forms import limits_around, standard_form
from tests.unwrap import unwrap


def one_row(matrix: list[float], **options: Any) -> StandardForm:
    """Minimize over non-negative integers under one covering row, unless told otherwise."""
    defaults = {"cost": np.ones(len(matrix)), "limits": (3, np.inf)}
    return standard_form(matrix=[matrix], **{**defaults, **options})


def task(form: StandardForm) -> IntegerTask:
    """Return the integer program that CP-SAT gets."""
    made = CpSat().request(form, time_limit=None, gap=0.0, start=None)[1]
    assert isinstance(made, IntegerTask)
    return made


def test_continuous_columns_are_named() -> None:
    """A continuous column must be refused by name, with the count of the others."""
    form = standard_form([1, 1, 1], [[1, 1, 1]], (1, 2), integer=[True, False, False], columns=("a", "b", "c"))
    with pytest.raises(Unsupported, match=r"column b \(and 1 more\) is continuous"):
        CpSat().solve(form)


def test_rows_are_scaled_exactly() -> None:
    """Each row must be multiplied by the common denominator of its decimals, its limits rounded inwards."""
    form = standard_form(
        [1, 1], [[0.25, 0.1], [2, 3], [0.5, 1]], ([0.31, 1.5, -np.inf], [np.inf, 4.5, 0.75]), (0, 9)
    )
    made = task(form)
    assert made.coefficients.tolist() == [5, 2, 2, 3, 1, 2]
    assert made.row_lower.tolist() == [7, 2, -(2**62)]
    assert made.row_upper.tolist() == [2**62, 4, 1]


def test_integers_mean_the_model() -> None:
    """Noise cuts no point off, large limits stay exact, and costs share one denominator with the offset."""
    form = one_row([1, 1], limits=(3 * 0.1 * 10, 0.1 * 3 * 10 - 1e-15), bounds=(0, 9))
    assert form.row_lower[0] > 3.0
    assert CpSat().solve(form).objective == 3.0
    for least, bounds in ((1e12 + 1, (0, 1e13)), (1e12 + 5, (1e12, np.inf))):
        outcome = CpSat().solve(one_row([1], limits=(least, np.inf), bounds=bounds))
        assert (outcome.status, outcome.objective) == (Status.OPTIMAL, least)
    made = task(one_row([1, 1], cost=[0.25, 1.5], offset=0.1, bounds=(0, 9)))
    assert (made.cost.tolist(), made.offset, made.scale, made.error) == ([5, 30], 2, 20, 0.0)


def test_objective_of_too_many_digits_is_rounded_and_its_bound_moved() -> None:
    """An objective that does not fit must be rounded, and no bound may then be better than the optimum."""
    cost = [0.1 + 0.2, 1 / 3, 2 / 7]
    form = one_row([1, 1, 1], cost=cost, limits=(700, np.inf), bounds=(0, 1000))
    made = task(form)
    outcome = CpSat().solve(form)
    assert made.error > 0
    assert outcome.status is Status.OPTIMAL
    assert outcome.objective == pytest.approx(700 * 2 / 7)
    assert unwrap(outcome.bound) <= 700 * 2 / 7


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"matrix": [1 / 3, 1e4], "limits": (10, np.inf)}, "row r0"),  # sixteen digits and ten thousand
        ({"matrix": [1, 1], "cost": [1e10, 1e12]}, "the objective"),  # ten billion times a billion
    ],
)
def test_numbers_beyond_64_bits_are_refused(options: dict[str, Any], what: str) -> None:
    """A row or objective that no scaling fits into 64 bits must be refused by name."""
    form = one_row(**options, bounds=(0, 1e9))
    with pytest.raises(Unsupported, match=f"{what} does not fit into 64-bit integers"):
        CpSat().solve(form)


@pytest.mark.parametrize(
    ("matrix", "limits", "bounds", "expected"),
    [
        ([[2, 1]], ([3], [4]), ([0, 0], [np.inf, np.inf]), ([0, 0], [2, 4])),  # a capacity
        ([[1, -1]], ([0], [np.inf]), ([0, 0], [5, np.inf]), ([0, 0], [5, 5])),  # one at most the other
        (
            [[1, -1], [1, 0]],
            ([0, -np.inf], [np.inf, 7]),
            ([0, 0], [np.inf, np.inf]),
            ([0, 0], [7, 7]),
        ),  # a chain
        ([[1, 1]], ([0], [5]), ([-np.inf, 0], [np.inf, 3]), ([-3, 0], [5, 3])),  # below and above
        ([[-2, 0]], ([-7], [np.inf]), ([0, 0], [np.inf, 1]), ([0, 0], [3, 1])),  # a negative coefficient
        ([[0.1, 0]], ([-np.inf], [0.3]), ([0, 0], [np.inf, 1]), ([0, 0], [3, 1])),  # 0.3 / 0.1 is below 3
        ([[0.1, 0]], ([-0.3], [np.inf]), ([-np.inf, 0], [0, 1]), ([-3, 0], [0, 1])),  # and above -3
        ([[1, 1]], ([3], [np.inf]), ([0, 0], [np.inf, np.inf]), ([0, 0], [np.inf, np.inf])),  # nothing follows
        ([[1, -1]], ([0], [0]), ([0, 0], [np.inf, np.inf]), ([0, 0], [np.inf, np.inf])),  # nothing follows
    ],
)
def test_missing_bounds_follow_from_rows(
    matrix: list[list[float]], limits: tuple[Any, Any], bounds: tuple[Any, Any], expected: tuple[Any, Any]
) -> None:
    """A missing bound must be the tightest that a row gives, or stay missing."""
    form = standard_form([1, 1], matrix, limits, bounds)
    lower, upper = implied_bounds(form)
    assert (lower.tolist(), upper.tolist()) == expected


def test_proofs_beyond_the_clamps() -> None:
    """Costs must rule out all that lies beyond the clamps; else the outcome must be feasible only."""
    for form, optimum in ((one_row([2, 1]), 2.0), (one_row([1, -1], cost=[1, 0], limits=(-4, np.inf)), 0.0)):
        outcome = CpSat().solve(form)
        assert (outcome.status, outcome.objective, outcome.bound) == (Status.OPTIMAL, optimum, optimum)
    outcome = CpSat().solve(one_row([2, -1], cost=[3, -1], limits=(-4, np.inf)))
    assert (outcome.status, outcome.objective, outcome.bound) == (Status.FEASIBLE, -4.0, None)
    assert outcome.stopped_by is StoppedBy.FINISHED
    assert f"{CLAMP:,}" in outcome.message


def test_clamps_that_matter() -> None:
    """No point within the clamps must not be a proof, and a column at its clamp must be named."""
    outcome = CpSat().solve(one_row([2, -2], limits=(3, 3)))
    assert (outcome.status, outcome.bound) == (Status.UNKNOWN, None)
    assert f"{CLAMP:,}" in outcome.message
    form = one_row([1, 0], cost=[1, 1], sense=Sense.MAXIMIZE, bounds=(0, [np.inf, 4]), columns=("a", "b"))
    with pytest.raises(Unsupported, match="column a has no bound and runs to 1,000,000,000"):
        CpSat().solve(form)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=cases(40, least=14), deadline=None)
def test_claims_without_bounds_are_those_of_highs(seed: int) -> None:
    """Whatever CP-SAT claims of a model with missing bounds must be what HiGHS finds."""
    some = np.random.default_rng(seed)
    matrix = some.integers(-9, 10, (4, 5)) * (some.random((4, 5)) < 0.6)
    form = standard_form(
        some.integers(-3, 7, 5),
        matrix,
        limits_around(matrix @ some.integers(0, 6, 5), some.integers([[0], [-1]], 9, (2, 4)), some),
        (
            np.where(some.random(5) < 0.8, some.integers(-5, 1, 5), -np.inf),
            np.where(some.random(5) < 0.5, some.integers(0, 20, 5), np.inf),
        ),
        sense=list(Sense)[seed % 2],
    )
    try:
        claimed = CpSat().solve(form, time_limit=60)
        found = Highs().solve(form, time_limit=60)
    except (BrokenModel, Unsupported):
        return

    if claimed.status is Status.OPTIMAL:
        assert meet(claimed.objective, found.objective)
    if claimed.status is Status.INFEASIBLE:
        assert found.status is Status.INFEASIBLE


def test_one_worker_is_the_default_and_two_are_refused() -> None:
    """Two workers, which may prove nothing, must be refused; one must be the default."""
    assert CpSat().threads == 1
    with pytest.raises(InvalidInput, match=r"^threads: 2: must be 1, or 3 and more"):
        CpSat(threads=2)


def test_options_reach_the_solver() -> None:
    """The asked options must stand in the solver's parameters."""
    backend = CpSat(threads=3, seed=7, linearization_level=1)
    parameters = backend.request(knapsack(), time_limit=9.0, gap=0.25, start=None)[1].parameters
    assert parameters["num_workers"] == 3
    assert parameters["random_seed"] == 7
    assert parameters["linearization_level"] == 1
    assert parameters["relative_gap_limit"] == 0.2  # relative to the value
    assert parameters["max_time_in_seconds"] == 9.0
