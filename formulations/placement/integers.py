"""Integers: the search for an integer solution and a proof, starting from the optimum of the relaxation."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from formulations.placement.linear import Optimum
from formulations.placement.packing import Reals
from gsopt.core.budget import Budget
from gsopt.core.numbers.tolerances import FEASIBILITY
from gsopt.core.result import Status, StoppedBy, is_within
from gsopt.solvers.scaling import Proof, optimize
from gsopt.solvers.standard_form import LARGEST_BIG_M, StandardForm


@dataclass(frozen=True)
class Bracket:
    """The best known point and bound of an integer program."""

    bound: int  # proven lower bound on the objective
    # best point, integers of shape (columns,), or None; columns beyond it are 0
    values: NDArray[np.int64] | None = None
    objective: int | None = None  # objective of the best point, or None
    infeasible: bool = False  # whether it is proven that there is no point
    stopped_by: StoppedBy = StoppedBy.FINISHED  # reason why the search ended

    def closed(self, gap: float = 0.0) -> bool:
        """Return whether objective and bound meet, up to a relative gap, or infeasibility is proven."""
        if self.objective is None:
            return self.infeasible
        return self.objective <= self.bound or is_within(self.objective, self.bound, gap)

    def with_point(self, values: NDArray[np.int64], objective: int) -> "Bracket":
        """Return the bracket with the given point, or unchanged if the point is no better than the best one."""
        if self.objective is not None and self.objective <= objective:
            return self
        return replace(self, values=values, objective=objective)

    def with_bound(self, bound: int) -> "Bracket":
        """Return the bracket with the larger of its bound and the given one, capped at the best objective."""
        best = max(self.bound, bound)
        return replace(self, bound=best if self.objective is None else min(best, self.objective))


def solve_integers(
    form: StandardForm,
    relaxed: Optimum,
    known: Bracket,
    *,
    prove: Callable[[int], int],
    budget: Budget,
    complete: bool,
    dive: float = 5.0,
    search: float | None = None,
) -> Bracket:
    """Improve the best known point and bound of an integer program whose linear relaxation is solved.

    First, the relaxation is rounded down, and the small program that remains is solved. Its solution often
    meets the bound if workers have only a few different needs. If there is still a gap, the whole program is
    solved without the columns that reduced costs rule out.

    Parameters
    ----------
    form
        Integer program to be minimized, with integer costs and non-negative integer variables.
    relaxed
        Optimum of its linear relaxation. Columns without a value are 0.
    known
        Best known point and bound. The bound must hold for all columns of the problem.
    prove
        Function that takes the objective of a point and returns a lower bound on all better points, or the
        objective itself if there are none.
    budget
        Time limit, gap and backend.
    complete
        Whether `form` contains all columns that matter, so that solving it is a proof.
    dive
        Time limit for the small program, in seconds.
    search
        Time limit for the whole program, in seconds; None for no limit.
    """
    known = _bounded(known, prove)
    if known.closed(budget.gap):
        return known
    if budget.passed:
        return replace(known, stopped_by=StoppedBy.TIME_LIMIT)
    rest = _at_least(_rounded_down(form, relaxed.values), known.bound)
    proof = optimize(rest, replace(budget.within(dive), gap=0.0, on_incumbent=None))
    known = _bounded(_better(known, form, proof, np.arange(form.cost.size)), prove)
    if known.closed(budget.gap):
        return known
    if proof.stopped_by in (StoppedBy.INTERRUPT, StoppedBy.CRASH) or budget.passed:
        return replace(known, stopped_by=proof.stopped_by)
    kept = _promising(form, relaxed, known)
    proof = optimize(
        _only(form, kept),
        budget if search is None else budget.within(search),
        start=None if known.values is None else _padded(known.values, form)[kept],
    )
    known = replace(_better(known, form, proof, kept), stopped_by=proof.stopped_by)
    return _bounded(_proven(known, proof) if complete else known, prove)


def _bounded(known: Bracket, prove: Callable[[int], int]) -> Bracket:
    if known.objective is None:
        return known
    return known.with_bound(prove(known.objective))


def _padded(values: NDArray[np.int64], form: StandardForm) -> Reals:
    padded = np.zeros(form.cost.size)
    padded[: values.size] = values
    return padded


def _rounded_down(form: StandardForm, values: Reals) -> StandardForm:
    below = np.zeros(form.cost.size)
    below[: values.size] = np.floor(values + FEASIBILITY)
    return form.with_bounds(below, form.column_upper)


def _proven(known: Bracket, proof: Proof) -> Bracket:
    """Return the bracket updated with the proof of a search over all columns that matter."""
    if proof.status is Status.INFEASIBLE and known.objective is None:
        return replace(known, infeasible=True)
    return known if proof.bound is None else known.with_bound(ceil(proof.bound))


def _better(known: Bracket, form: StandardForm, proof: Proof, columns: NDArray[np.int64]) -> Bracket:
    """Return the bracket with a point that a solver found over the given columns, if it is better."""
    if proof.values is None:
        return known
    values = np.zeros(form.cost.size, dtype=np.int64)
    values[columns] = np.round(proof.values)
    return known.with_point(values, round(form.objective(values)))


def _at_least(form: StandardForm, bound: int) -> StandardForm:
    """Add the bound as a row, so that a solver stops as soon as it reaches the bound."""
    if np.abs(form.cost).max(initial=0.0) > LARGEST_BIG_M:
        return form
    return replace(
        form,
        matrix=csr_array(vstack([form.matrix, csr_array(form.cost[np.newaxis, :])])),
        row_lower=np.append(form.row_lower, bound - form.offset),
        row_upper=np.append(form.row_upper, np.inf),
        rows=(*form.rows, "bound"),
    )


def _promising(form: StandardForm, relaxed: Optimum, known: Bracket) -> NDArray[np.int64]:
    """Return the columns that a better point can use, which are those with reduced costs within the gap."""
    if known.objective is None:
        return np.arange(form.cost.size)
    reduced = form.cost - form.matrix.T @ relaxed.duals
    slack = FEASIBILITY * max(1.0, abs(relaxed.objective))
    return np.flatnonzero(reduced <= known.objective - relaxed.objective + slack)


def _only(form: StandardForm, columns: NDArray[Any]) -> StandardForm:
    """Return the program restricted to the given columns."""
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
