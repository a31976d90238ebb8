"""Multipliers: prices of a server's resources, which are the duals of the linear relaxation of filling it."""

import numpy as np

from formulations.placement.linear import solve_relaxation
from formulations.placement.packing import Integers, Reals
from gsopt.core.budget import Budget
from gsopt.solvers.standard_form import StandardForm


def multipliers(demands: Integers, room: Integers, totals: Integers, worth: Reals, budget: Budget) -> Reals:
    """Return the duals of the linear relaxation of filling one server, non-negative, shape (resources,).

    The duals are prices of the resources. At any non-negative prices, the worth of a filling is at most the
    price of all free resources plus the profits of all workers, where a worker's profit is its worth minus the
    price of its needs, or 0 if this is negative. The returned prices minimize this bound. If the time limit is
    reached, they are 0.
    """
    wanted = np.flatnonzero((worth > 0) & (totals > 0) & (demands <= room).all(axis=1))
    if room.size == 1:
        return _critical(demands[wanted, 0], int(room[0]), totals[wanted], worth[wanted])
    share = demands[wanted] / np.maximum(room, 1)  # shares, so that bytes and GPUs have one scale
    form = StandardForm.build(
        cost=-worth[wanted],
        matrix=share.T,
        row_lower=np.full(room.size, -np.inf),
        row_upper=np.ones(room.size),
        column_upper=totals[wanted],
    )
    optimum = solve_relaxation(form, budget)
    if optimum is None:
        return np.zeros(room.size)
    prices: Reals = np.maximum(-optimum.duals, 0.0) / np.maximum(room, 1)
    return prices


def _critical(sizes: Integers, room: int, totals: Integers, worth: Reals) -> Reals:
    """Return the worth per size of the first worker that does not fit if those worth most per size go first."""
    order = np.argsort(-worth / sizes, kind="stable")
    beyond = np.flatnonzero(np.cumsum((sizes * totals)[order]) > room)
    if not beyond.size:
        return np.zeros(1)
    critical = order[beyond[0]]
    return np.array([worth[critical] / sizes[critical]])
