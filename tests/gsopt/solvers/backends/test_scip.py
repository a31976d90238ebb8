"""SCIP: models with continuous columns, as a second opinion on HiGHS."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import BrokenModel
from gsopt.core.problem import Sense
from gsopt.core.result import Status
from gsopt.solvers.backends import Highs, Scip
from gsopt.solvers.standard_form import StandardForm
from tests.gsopt.solvers.backends.models import large_limits, meet


@given(seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_mixed_models_have_the_optimum_of_highs(seed: int) -> None:
    """SCIP and HiGHS must agree on bounded models with integer and continuous columns."""
    some = np.random.default_rng(seed)
    columns, rows = some.integers(2, 9), some.integers(1, 7)
    matrix = some.integers(-9, 10, (rows, columns)) * (some.random((rows, columns)) < 0.6)
    middle = matrix @ some.integers(0, 6, columns)
    form = StandardForm.build(
        cost=some.integers(-6, 7, columns),
        matrix=matrix,
        row_lower=np.where(some.random(rows) < 0.4, -np.inf, middle - some.integers(-1, 9, rows)),
        row_upper=np.where(some.random(rows) < 0.4, np.inf, middle + some.integers(0, 9, rows)),
        column_lower=some.integers(-5, 1, columns),
        column_upper=some.integers(0, 20, columns),
        integer=some.random(columns) < 0.6,
        sense=list(Sense)[seed % 2],
        offset=2.5,
    )

    scip, highs = Scip().solve(form), Highs().solve(form)

    assert scip.status is highs.status
    if scip.status is Status.OPTIMAL:
        assert meet(scip.objective, highs.objective)
        assert meet(scip.bound, highs.bound)


def test_linear_program_has_its_optimum_as_bound() -> None:
    """A linear program must end with its value as bound."""
    form = StandardForm.build(
        cost=[2, 3], matrix=[[1, 2]], row_lower=[4], row_upper=[np.inf], integer=[False, False]
    )

    outcome = Scip().solve(form)

    assert outcome.status is Status.OPTIMAL
    assert outcome.bound == pytest.approx(6.0)


def test_row_without_limits_is_left_out() -> None:
    """A row that limits nothing must not disturb."""
    form = StandardForm.build(cost=[1], matrix=[[1], [1]], row_lower=[2, -np.inf], row_upper=[np.inf, np.inf])

    assert Scip().solve(form).objective == 2.0


def test_unbounded_integers_come_to_an_end() -> None:
    """A model on whose unbounded relaxation SCIP would branch for ever must be refused."""
    form = StandardForm.build(
        cost=[-1, -1, -4, -5, -5],
        matrix=[
            [-6, 6, 0, -5, -8],
            [3, -6, -2, 0, -6],
            [-3, -1, 0, -6, 0],
            [-3, -9, -3, 7, 0],
            [2, 8, 3, -2, -8],
        ],
        row_lower=[-np.inf, -np.inf, -np.inf, -1403, -np.inf],
        row_upper=[-2097, np.inf, -994, -1392, np.inf],
        column_lower=[0, -5, -np.inf, -3, -1],
        column_upper=[np.inf, 19, np.inf, np.inf, 17],
    )

    with pytest.raises(BrokenModel, match="unbounded"):
        Scip().solve(form, time_limit=60)


@pytest.mark.parametrize("seed", range(5))
def test_large_limits_are_kept_to(seed: int) -> None:
    """Rows with limits of millions must hold to the absolute tolerance of the judge."""
    form = large_limits(seed)

    outcome = Scip().solve(form)

    assert outcome.status is Status.OPTIMAL
    assert outcome.values is not None
    assert form.is_feasible(outcome.values)
