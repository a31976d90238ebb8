"""Bounds from dual values."""

from fractions import Fraction
from math import isfinite

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formulations.common.duals import prove
from gsopt.solvers.backends import Highs
from gsopt.solvers.backends.highs import Model
from gsopt.solvers.standard_form import StandardForm


def _random(seed: int) -> StandardForm:
    """Draw a bounded linear program with rows of every kind."""
    random = np.random.default_rng(seed)
    rows, columns = 5, 7
    matrix = random.integers(-3, 4, (rows, columns)).astype(float)
    inside = matrix @ random.uniform(0, 4, columns)
    room = random.uniform(0, 2, rows)
    kind = random.integers(0, 4, rows)
    return StandardForm.build(
        cost=random.uniform(-2, 3, columns),
        matrix=matrix,
        row_lower=np.where(kind == 0, -np.inf, inside - np.where(kind == 3, 0, room)),
        row_upper=np.where(kind == 1, np.inf, inside + np.where(kind == 3, 0, room)),
        column_upper=np.full(columns, 4.0),
        integer=np.zeros(columns, dtype=bool),
        offset=1.5,
    )


def _model(form: StandardForm) -> Model:
    task = Highs().request(form, time_limit=None, gap=0.0, start=None)[1]
    model: Model = task.model
    return model


def test_no_prices_prove_more_than_the_optimum() -> None:
    """Whatever the prices, their bound is at most the optimum; those of the optimum reach it."""
    for seed in range(60):
        form, random = _random(seed), np.random.default_rng(seed)
        optimum = Highs().solve(form)
        assert optimum.objective is not None
        assert optimum.duals is not None
        largest = np.full(form.cost.size, 4.0)
        for scale in (0.0, 1e-9, 0.1, 10.0):
            prices = optimum.duals + scale * random.normal(size=optimum.duals.size)
            assert prove(_model(form), prices, largest).bound <= optimum.objective + 1e-12
        assert prove(_model(form), optimum.duals, largest).bound == pytest.approx(optimum.objective, abs=1e-9)


def test_reduced_costs_are_what_a_column_costs_more() -> None:
    """With a column raised by one, the bound and its reduced cost together are still at most the optimum."""
    for seed in range(30):
        form = _random(seed)
        duals = Highs().solve(form).duals
        assert duals is not None
        proof = prove(_model(form), duals, np.full(form.cost.size, 4.0))
        for column in np.flatnonzero(proof.reduced > 0):
            lower = form.column_lower.copy()
            lower[column] = 1.0
            raised = Highs().solve(form.with_bounds(lower, form.column_upper)).objective
            assert raised is None or proof.bound + proof.reduced[column] <= raised + 1e-9


def test_columns_count_up_to_the_lower_of_their_limits() -> None:
    """A column that pays counts up to its own limit, or up to what matters where that is less."""
    form = StandardForm.build(cost=[-1, -1], matrix=[[1, 1]], row_lower=[0], row_upper=[9], column_upper=[5, 5])
    bounds = [prove(_model(form), np.zeros(1), np.array(largest)).bound for largest in ([3.0, 9.0], [1.0, 2.0])]

    assert bounds == pytest.approx([-3 - 5, -1 - 2])


def test_rounding_adds_nothing_to_a_bound() -> None:
    """The bound is at most what the same prices prove in exact numbers, and hardly below it."""
    for seed in range(60):
        form, random = _random(seed), np.random.default_rng(seed)
        model, prices = _model(form), random.normal(size=5)
        limits = np.where(prices > 0, form.row_lower, form.row_upper)
        exact = Fraction(form.offset)
        priced = [Fraction(float(cost)) for cost in form.cost]
        for price, limit, row in zip(prices.tolist(), limits.tolist(), form.matrix.toarray(), strict=True):
            if isfinite(limit):
                exact += Fraction(price) * Fraction(limit)
                priced = [
                    own - Fraction(price) * Fraction(float(a)) for own, a in zip(priced, row, strict=True)
                ]
        exact += 4 * sum((min(own, Fraction(0)) for own in priced), Fraction(0))
        bound = prove(model, prices, np.full(7, 4.0)).bound

        assert exact - Fraction(1, 10**11) <= Fraction(bound) <= exact


def program(seed: int) -> StandardForm:
    """Return a random linear program of covering and packing rows, with columns up to 3."""
    random = np.random.default_rng(seed)
    return StandardForm.build(
        cost=random.integers(-3, 9, 6),
        matrix=random.integers(0, 4, (4, 6)),
        row_lower=[3, 2, -np.inf, 1],
        row_upper=[np.inf, 9, 12, np.inf],
        column_upper=np.full(6, 3),
        integer=np.zeros(6, dtype=np.bool_),
        offset=0.5,
    )


@given(st.integers(0, 40), st.lists(st.floats(-5, 5), min_size=4, max_size=4))
def test_no_prices_prove_too_much(seed: int, prices: list[float]) -> None:
    """Whatever the prices, the bound is at most the value of every point of the program."""
    form = program(seed)
    proof = prove(_model(form), np.array(prices), np.full(6, 3.0))
    random = np.random.default_rng(seed)
    for point in random.uniform(0, 3, (200, 6)):
        if form.violation(point) == 0:
            assert proof.bound <= form.objective(point) + 1e-9
