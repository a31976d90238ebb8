"""Budget: one clock, and what is left of it."""

import pickle
from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest

import gsopt
from gsopt.core.budget import DEFAULTS, Budget
from gsopt.core.errors import InvalidInput
from gsopt.solvers.backends import CpSat, Highs, solver_of


def test_defaults() -> None:
    """Without options nothing is limited and HiGHS solves; options that differ are named in their order."""
    budget = Budget()
    assert (budget.left(), budget.passed, budget.passes(0.0), budget.asked) == (None, False, False, ())
    assert budget.left(most=3.0) == 3.0
    assert solver_of(Budget()) == Highs()
    assert solver_of(Budget(backend=CpSat())) == CpSat()
    assert Budget(log=True, backend=Highs(), time_limit=1.0).asked == ("time_limit", "backend", "log")
    assert set(DEFAULTS) == set(Budget.__dataclass_fields__) - {"begin"}


def test_the_clock_begins_when_the_budget_is_made() -> None:
    """What is left shrinks to 0 and stays there, and a part of the budget shares its clock."""
    budget = Budget(time_limit=100.0, begin=Budget().begin - 99.0)
    assert 0 < (budget.left() or 0) <= 1.0
    assert budget.passes(0.9)
    assert not budget.passed
    assert Budget(time_limit=100.0, begin=Budget().begin - 101.0).passed
    assert budget.within(50.0).time_limit == 100.0
    assert (budget.within(0.25).left() or 0) <= 0.25
    assert budget.within(0.25).begin == budget.begin


@pytest.mark.parametrize(
    "limit", [-1.0, nan, inf, 1.1e9, 10**400, True, b"3", [3], "", "-1s", "nan s", "1e9d", "٣s", "3 weeks"]
)
def test_a_limit_is_a_number_of_seconds(limit: Any) -> None:
    """A negative, endless or missing number is refused in one line."""
    with pytest.raises(InvalidInput, match=r"time_limit: .*: must be a number of seconds from 0 to 1e9"):
        Budget(time_limit=limit)


def test_limits() -> None:
    """The longest limit stays as it is, one may be written with its unit, and callbacks are functions."""
    assert Budget(time_limit=1e9).longer(0.25).time_limit == 1e9
    assert gsopt.solve(gsopt.load("reclaiming/aryl-figure-5"), time_limit="1e9s").objective == 1
    assert Budget(time_limit="3").time_limit == 3.0
    budget = replace(Budget(time_limit="2min", gap=0.1), gap=0.2)
    assert (budget.time_limit, budget) == (120.0, replace(budget, time_limit=120.0))
    assert "time_limit=120.0" in repr(budget)
    assert pickle.loads(pickle.dumps(budget)) == budget  # noqa: S301 - our own
    with pytest.raises(InvalidInput, match=r"on_incumbent: 3: must be a function"):
        Budget(on_incumbent=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("gap", [-0.1, nan, inf, None, "0.1"])
def test_a_gap_is_a_share(gap: Any) -> None:
    """A negative or infinite gap is refused in one line."""
    with pytest.raises(InvalidInput, match=r"gap: .*: must be at least 0"):
        Budget(gap=gap)


@pytest.mark.parametrize("backend", ["highs", Highs, 3])
def test_a_backend_is_an_object_that_solves(backend: Any) -> None:
    """A name or a class of a backend is refused where it is given, not where a solver is first needed."""
    with pytest.raises(InvalidInput, match=r"backend: .*: must be a backend"):
        Budget(backend=backend)
