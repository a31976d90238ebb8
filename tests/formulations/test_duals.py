"""The bound that dual values prove."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from formulations.duals import prove
from gsopt.backends import Highs
from gsopt.backends.highs import Model
from gsopt.standard_form import StandardForm


def program(seed: int) -> StandardForm:
    """Give a random linear program of covering and packing rows, with columns up to 3."""
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


def arrays(form: StandardForm) -> Model:
    """Give the arrays that the solver gets."""
    model: Model = Highs().request(form, time_limit=None, gap=0.0, start=None)[1].model
    return model


@given(st.integers(0, 40), st.lists(st.floats(-5, 5), min_size=4, max_size=4))
def test_no_prices_prove_too_much(seed: int, prices: list[float]) -> None:
    """Whatever the prices, the bound is at most the value of every point of the program."""
    form = program(seed)
    proof = prove(arrays(form), np.array(prices), np.full(6, 3.0))
    random = np.random.default_rng(seed)
    for point in random.uniform(0, 3, (200, 6)):
        if form.violation(point) == 0:
            assert proof.bound <= form.objective(point) + 1e-9


def test_the_prices_of_an_optimum_prove_it() -> None:
    """At the solver's dual values the bound is the optimum, and reduced costs say what a column adds."""
    proven = 0
    for seed in range(40):
        form = program(seed)
        outcome = Highs().solve(form)
        if outcome.objective is None or outcome.duals is None:
            continue
        proof = prove(arrays(form), outcome.duals, np.full(6, 3.0))
        assert abs(proof.bound - outcome.objective) <= 1e-6
        for column in np.flatnonzero(proof.reduced > 0.1):
            lower = form.column_lower.copy()
            lower[column] = 1.0
            dearer = Highs().solve(form.with_bounds(lower, form.column_upper))
            if dearer.objective is not None:
                assert dearer.objective >= proof.bound + proof.reduced[column] - 1e-6
                proven += 1
    assert proven >= 20
