"""Settle: from the linear relaxation over some columns to integers, and what they prove."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from formulations.deadline import Deadline
from gsopt.backends import Backend, Outcome
from gsopt.backends.base import Vector
from gsopt.result import Status, StoppedBy
from gsopt.standard_form import LARGEST_BIG_M, StandardForm

_ROUNDING = 1e-6


@dataclass(frozen=True)
class Settled:
    """What is known of an integer program.

    Attributes
    ----------
    bound
        Proven bound on the value of any point.
    values
        Best point, integers of shape (columns,), or None.
    objective
        Its value, or None.
    infeasible
        Whether it is proven that there is no point.
    stopped_by
        Why the search ended.
    """

    bound: int
    values: Vector | None = None
    objective: int | None = None
    infeasible: bool = False
    stopped_by: StoppedBy = StoppedBy.FINISHED

    @classmethod
    def at(cls, form: StandardForm, values: NDArray[np.int64] | None, bound: int) -> "Settled":
        """Begin with a bound and, where there is one, a point."""
        if values is None:
            return cls(bound)
        return cls(bound, values.astype(np.float64), round(form.objective(values)))

    @property
    def closed(self) -> bool:
        """Whether value and bound meet."""
        return self.objective is not None and self.objective <= self.bound


def settle(
    form: StandardForm,
    relaxed: Outcome,
    known: Settled,
    *,
    prove: Callable[[int], int],
    backend: Backend,
    deadline: Deadline,
    complete: bool,
    dive: float = 5.0,
    search: float | None = None,
    log: bool = False,
) -> Settled:
    """Improve on what is known of an integer program whose linear relaxation is solved.

    First the relaxation is rounded down and the small program that is left is solved; with few demands that
    often meets the bound. Otherwise the whole program follows, without the columns whose reduced cost shows
    that no better point needs them.

    Parameters
    ----------
    form
        Integer program with integer costs, to be minimized; every column is a non-negative integer.
    relaxed
        Optimum of its linear relaxation, with duals; columns beyond its values are 0 there.
    known
        What is known already: at least a bound over these columns and all others that the problem has.
    prove
        Given the value of a point, bounds every point that is better; the value itself if there is none.
    backend
        Solver.
    deadline
        Time limit.
    complete
        Whether no other column matters, so that searching to the end is a proof.
    dive
        Seconds for the small program, at most.
    search
        Seconds for the whole program, at most; None for no limit.
    log
        Stream the solver's log.
    """
    known = _bounded(known, prove)
    if known.closed:
        return known
    if relaxed.values is not None:
        rest = _at_least(_rounded_down(form, relaxed.values), known.bound)
        outcome = backend.solve(rest, time_limit=deadline.left(most=dive), log=log)
        known = _bounded(_better(known, form, outcome, np.arange(form.cost.size)), prove)
        if known.closed:
            return known
        if outcome.stopped_by in (StoppedBy.INTERRUPT, StoppedBy.CRASH) or deadline.passed:
            return replace(known, stopped_by=outcome.stopped_by)
    kept = _promising(form, relaxed, known)
    outcome = backend.solve(
        _only(form, kept),
        time_limit=deadline.left(most=search),
        start=None if known.values is None else known.values[kept],
        log=log,
    )
    known = replace(_better(known, form, outcome, kept), stopped_by=outcome.stopped_by)
    return _bounded(_proven(known, outcome) if complete else known, prove)


def _bounded(known: Settled, prove: Callable[[int], int]) -> Settled:
    if known.objective is None:
        return known
    return replace(known, bound=max(known.bound, prove(known.objective)))


def _rounded_down(form: StandardForm, values: Vector) -> StandardForm:
    below = np.zeros(form.cost.size)
    below[: values.size] = np.floor(values + _ROUNDING)
    return form.with_bounds(below, form.column_upper)


def _proven(known: Settled, outcome: Outcome) -> Settled:
    """Add what a search over all columns that matter has proven."""
    if outcome.status is Status.INFEASIBLE and known.objective is None:
        return replace(known, infeasible=True)
    if outcome.status is Status.OPTIMAL and known.objective is not None:
        return replace(known, bound=known.objective)
    if outcome.bound is None:
        return known
    bound = max(known.bound, ceil(outcome.bound - _ROUNDING * max(1.0, abs(outcome.bound))))
    return replace(known, bound=bound if known.objective is None else min(bound, known.objective))


def _better(known: Settled, form: StandardForm, outcome: Outcome, columns: NDArray[np.int64]) -> Settled:
    """Keep the better of the known point and the one that a solver found for some of the columns."""
    if outcome.values is None:
        return known
    values = np.zeros(form.cost.size)
    values[columns] = np.round(outcome.values)
    objective = round(form.objective(values))
    if known.objective is not None and known.objective <= objective:
        return known
    return replace(known, values=values, objective=objective)


def _at_least(form: StandardForm, bound: int) -> StandardForm:
    """Add the bound as a row, so that a solver ends when it meets it."""
    if np.abs(form.cost).max(initial=0.0) > LARGEST_BIG_M:
        return form
    return replace(
        form,
        matrix=csr_array(vstack([form.matrix, csr_array(form.cost[np.newaxis, :])])),
        row_lower=np.append(form.row_lower, bound - form.offset),
        row_upper=np.append(form.row_upper, np.inf),
        rows=(*form.rows, "bound"),
    )


def _promising(form: StandardForm, relaxed: Outcome, known: Settled) -> NDArray[np.int64]:
    """Find the columns that a better point may use: their reduced cost does not exceed the gap."""
    if relaxed.duals is None or relaxed.objective is None or known.objective is None:
        return np.arange(form.cost.size)
    reduced = form.cost - form.matrix.T @ relaxed.duals
    return np.flatnonzero(reduced <= known.objective - relaxed.objective + _ROUNDING)


def _only(form: StandardForm, columns: NDArray[Any]) -> StandardForm:
    """Leave out all other columns."""
    if columns.size == form.cost.size:
        return form
    return replace(
        form,
        cost=form.cost[columns],
        matrix=csr_array(form.matrix[:, columns]),
        column_lower=form.column_lower[columns],
        column_upper=form.column_upper[columns],
        integer=form.integer[columns],
        columns=tuple(form.columns[column] for column in columns),
    )
