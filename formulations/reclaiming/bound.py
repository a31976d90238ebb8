"""Bound: the linear relaxation of the reduced problem, and what its dual values rule out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from formulations.reclaiming.reduced import arrays
from formulations.reclaiming.reduction import Reduction
from gsopt.backends import Highs
from gsopt.result import Status, StoppedBy
from gsopt.standard_form import StandardForm

#: How far from 0 or 1 a solver leaves a variable that is 0 or 1.
_TOLERANCE = 1e-6

#: Relative rounding error of sums of doubles, generously.
_ROUNDING = 1e-9

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Relaxation:
    """An optimum of the linear relaxation of a reduction.

    Attributes
    ----------
    reduction
        The reduction.
    bound
        Lower bound on the objective, recomputed from the dual values: valid even if those are inexact.
    preempted
        Value of each merged job, shape (jobs,).
    job_costs, group_costs
        Reduced costs, shapes (jobs,) and (groups,): what the bound rises by when a column leaves 0, or where
        negative its upper bound.
    """

    reduction: Reduction
    bound: float
    preempted: Vector
    job_costs: Vector
    group_costs: Vector

    def rounded(self) -> Reduction:
        """Keep to the relaxation where it is integral: what is left lies between two nested sets of jobs.

        Without the row that counts servers the matrix is totally unimodular, so the fractional jobs are those
        that lead from one corner of the lower convex hull of the trade-off curve to the next.
        """
        preempted = np.flatnonzero(self.preempted > 1 - _TOLERANCE)
        spared = np.flatnonzero(self.preempted < _TOLERANCE)
        return self.reduction.restricted(preempted.tolist(), spared.tolist())

    def core(self, target: float) -> Reduction:
        """Leave out what no solution of at most a target cost can do, by reduced costs."""
        slack = target - self.bound + _ROUNDING * max(1.0, abs(target))
        preempted = np.flatnonzero(self.job_costs < -slack)
        spared = np.flatnonzero(self.job_costs > slack)
        kept = np.flatnonzero(self.group_costs > slack)
        return self.reduction.restricted(preempted.tolist(), spared.tolist(), kept.tolist())


def relaxed(reduction: Reduction, *, time_limit: float | None = None) -> tuple[Relaxation | None, StoppedBy]:
    """Solve the linear relaxation by HiGHS' simplex method; None when that was stopped before its end.

    Its value is the lower convex hull of the trade-off curve, because all rows but the one that counts servers
    form a totally unimodular matrix.

    Source: Aryl, Appendix B, for the program that is relaxed.

    Examples
    --------
    >>> import gsopt
    >>> from formulations.reclaiming.reduction import reduce
    >>> relaxation, _ = relaxed(reduce(gsopt.load("reclaiming/aryl-figure-5")))
    >>> relaxation.bound
    1.0
    """
    form = arrays(reduction).relaxation
    outcome = Highs().solve(form, time_limit=time_limit)
    if outcome.status is not Status.OPTIMAL or outcome.values is None:
        return None, outcome.stopped_by
    jobs = len(reduction.weights)
    costs, bound = _reduced_costs(form, outcome.duals)
    found = Relaxation(reduction, bound, outcome.values[:jobs], costs[:jobs], costs[jobs:])
    return found, outcome.stopped_by


def _reduced_costs(form: StandardForm, duals: Vector | None) -> tuple[Vector, float]:
    """Price the rows by their dual values; prices of the right sign give a valid bound, whatever they are."""
    prices = np.zeros(len(form.rows)) if duals is None else duals
    prices = np.where(np.isneginf(form.row_lower), np.minimum(prices, 0.0), prices)
    costs = form.cost - form.matrix.T @ prices
    paid = prices @ np.where(prices > 0, form.row_lower, form.row_upper)
    return costs, float(form.offset + paid + np.minimum(costs * form.column_upper, 0.0).sum())
