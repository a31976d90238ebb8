"""Linear programs in this process."""

import numpy as np

from formulations.placement.linear import solve_relaxation
from gsopt.core.budget import Budget
from gsopt.solvers.backends import Highs
from gsopt.solvers.standard_form import StandardForm


def test_it_agrees_with_the_backend() -> None:
    """Value and duals of a random covering program are those of HiGHS in its own process."""
    random = np.random.default_rng(3)
    form = StandardForm.build(
        cost=random.integers(1, 9, 12),
        matrix=random.integers(0, 3, (5, 12)) + np.eye(5, 12),
        row_lower=np.full(5, 7),
        row_upper=np.full(5, np.inf),
        offset=2.0,
    )
    here, there = solve_relaxation(form, Budget()), Highs().solve(form.relaxation)

    assert here is not None
    assert there.objective is not None
    assert np.isclose(here.objective, there.objective)
    assert np.isclose(here.duals @ form.row_lower + form.offset, here.objective)


def test_without_an_optimum_there_is_none() -> None:
    """A program without points has no optimum."""
    impossible = StandardForm.build(cost=[1], matrix=[[1]], row_lower=[2], row_upper=[2], column_upper=[1])

    assert solve_relaxation(impossible, Budget()) is None
