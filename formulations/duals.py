"""Duals: the bound that dual values prove, whatever made them and however wrong they are."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gsopt.backends.highs import Model

Reals = NDArray[np.float64]


class Proof(NamedTuple):
    """What dual values prove of a linear program that is minimised.

    Attributes
    ----------
    bound
        Bound on its optimum.
    reduced
        By how much the bound rises for each unit of each column, shape (columns,).
    """

    bound: float
    reduced: Reals


def prove(model: Model, duals: Reals, largest: Reals) -> Proof:
    """Compute the bound that dual values prove.

    For any prices y of the rows, c x = y A x + (c - y A) x for all x. The first term is at least what the
    limits of the rows leave, the second what the limits of the columns leave; so the bound holds for any y, and
    no tolerance of the solver that found it enters. What rounding may add up to is taken off. A price whose row
    has no limit on its side counts as 0.

    Parameters
    ----------
    model
        The linear program; integrality is ignored.
    duals
        Price of each row, shape (rows,).
    largest
        Largest value of each column in any solution that matters, finite, shape (columns,).

    Examples
    --------
    >>> from gsopt.backends import Highs
    >>> from gsopt.standard_form import StandardForm
    >>> form = StandardForm.build(cost=[1, 1], matrix=[[2, 1]], row_lower=[3], row_upper=[np.inf])
    >>> model = Highs().request(form, time_limit=None, gap=0, start=None)[1].model
    >>> proof = prove(model, np.array([0.5]), largest=np.array([9.0, 9.0]))
    >>> round(proof.bound, 12), proof.reduced.tolist()
    (1.5, [0.0, 0.5])
    """
    limits = np.where(duals > 0, model.row_lower, model.row_upper)
    prices = np.where(np.isfinite(limits), duals, 0.0)
    rows = prices * np.where(np.isfinite(limits), limits, 0.0)
    entries = model.coefficients * np.repeat(prices, np.diff(model.starts))
    size = model.cost.size
    reduced = model.cost - np.bincount(model.indices, weights=entries, minlength=size)
    upper = np.minimum(model.column_upper, largest)
    columns = np.where(reduced > 0, reduced * model.column_lower, reduced * upper)
    bound = float(rows.sum() + columns.sum()) + model.offset
    terms = np.abs(model.cost) + np.bincount(model.indices, weights=np.abs(entries), minlength=size)
    largest_sum = np.abs(rows).sum() + terms @ np.maximum(np.abs(model.column_lower), np.abs(upper))
    rounding = np.finfo(np.float64).eps * (rows.size + size) * float(largest_sum + abs(model.offset))
    return Proof(bound - float(rounding), reduced)
