"""Settle: from a relaxation to proven integers."""

from dataclasses import replace

import numpy as np
import pytest

from formulations.placement.linear import Optimum, solve_relaxation
from formulations.placement.settle import Settled, settle
from gsopt.core.budget import Budget
from gsopt.core.result import StoppedBy
from gsopt.solvers.standard_form import StandardForm

#: Cover a cycle of five: the relaxation is 2.5, the optimum 3.
CYCLE = StandardForm.build(
    cost=np.ones(5),
    matrix=np.eye(5) + np.roll(np.eye(5), 1, axis=1),
    row_lower=np.ones(5),
    row_upper=np.full(5, np.inf),
)

#: Two units of 2 or 3 make 7 only as 2 + 2 + 3; costs are multiples of ten.
TENS = StandardForm.build(cost=[20, 30], matrix=[[2, 3]], row_lower=[7], row_upper=[7], offset=5)

IMPOSSIBLE = StandardForm.build(cost=[1.0], matrix=[[2.0]], row_lower=[1], row_upper=[1])


def nothing(value: int) -> int:
    """Prove nothing of points better than a value."""
    return -abs(value) - 10**9


def settled(
    form: StandardForm, known: Settled, *, complete: bool = True, limit: float | None = None
) -> Settled:
    """Settle a program from its relaxation."""
    budget = Budget(time_limit=limit)
    return settle(form, relaxation(form), known, prove=nothing, budget=budget, complete=complete)


def relaxation(form: StandardForm) -> Optimum:
    """Solve the relaxation."""
    optimum = solve_relaxation(form, Budget())
    assert optimum is not None
    return optimum


@pytest.mark.parametrize(("form", "bound", "optimum"), [(CYCLE, 3, 3), (CYCLE, 0, 3), (TENS, 0, 75)])
def test_the_optimum_is_proven(form: StandardForm, bound: int, optimum: int) -> None:
    """From any bound the optimum is found, and proven where the columns are all that matter."""
    found = settled(form, Settled(bound))

    assert (found.objective, found.bound, found.closed()) == (optimum, optimum, True)
    assert found.values is not None
    assert form.is_feasible(found.values)


def test_columns_that_may_be_missing_prove_nothing() -> None:
    """Where other columns may matter the bound stays what it was."""
    found = settled(CYCLE, Settled(2), complete=False)

    assert (found.objective, found.bound, found.closed(), found.infeasible) == (3, 2, False, False)
    assert not settled(IMPOSSIBLE, Settled(0), complete=False).infeasible


def test_no_integers_are_proven_to_be_none() -> None:
    """A program with a relaxation but no integers is infeasible, if no column is missing."""
    found = settled(IMPOSSIBLE, Settled(0))

    assert found.infeasible
    assert found.objective is None


def test_what_is_known_is_kept() -> None:
    """A point that meets the bound is given back, and one that cannot be improved on is proven."""
    point = np.array([1, 1, 0, 1, 0])
    closed = Settled(3).with_point(point, 3)
    kept = settled(CYCLE, closed)
    assert kept.closed()
    assert kept.values is closed.values

    found = settled(CYCLE, Settled(2).with_point(point, 3))
    assert (found.objective, found.bound) == (3, 3)


def test_what_can_be_proven_of_better_points_counts() -> None:
    """A proof that nothing is better than the point that is known ends the search."""
    relaxed = relaxation(CYCLE)
    known = Settled(2).with_point(np.array([1, 1, 0, 1, 0]), 3)
    found = settle(CYCLE, relaxed, known, prove=int, budget=Budget(time_limit=0.0), complete=False)

    assert (found.objective, found.bound, found.closed()) == (3, 3, True)


def test_without_time_the_bound_stands() -> None:
    """Without time the known bound and point come back, stopped by the limit."""
    relaxed = relaxation(CYCLE)
    found = settle(CYCLE, relaxed, Settled(2), prove=nothing, budget=Budget(time_limit=0.0), complete=True)

    assert found.bound == 2
    assert found.stopped_by is StoppedBy.TIME_LIMIT


def test_columns_beyond_the_relaxation_are_zero_there() -> None:
    """A relaxation over the first columns serves a program with more."""
    shorter = StandardForm.build(cost=[1], matrix=[[1]], row_lower=[3], row_upper=[np.inf])
    longer = StandardForm.build(cost=[1, 1], matrix=[[1, 5]], row_lower=[3], row_upper=[np.inf])
    relaxed = relaxation(shorter)
    found = settle(longer, relaxed, Settled(0), prove=nothing, budget=Budget(), complete=False)

    assert found.objective == 1


def test_costs_too_large_for_a_row_are_no_obstacle() -> None:
    """Costs of a million are minimized without the row that keeps the bound."""
    form = replace(CYCLE, cost=np.full(5, 1e6))

    assert settled(form, Settled(0)).objective == 3_000_000


def test_solvers_of_integers_only_will_do() -> None:
    """The relaxation's solver and that of the integers may be different ones."""
    from gsopt.solvers.backends import CpSat

    relaxed = relaxation(CYCLE)
    found = settle(CYCLE, relaxed, Settled(0), prove=nothing, budget=Budget(backend=CpSat()), complete=True)

    assert (found.objective, found.bound) == (3, 3)
