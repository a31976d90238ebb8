"""Multipliers: prices of one server's resources in the linear relaxation of filling it."""

import numpy as np

from formulations.placement.linear import solve_relaxation
from formulations.placement.packing import Integers, Reals
from gsopt.core.budget import Budget
from gsopt.solvers.standard_form import StandardForm


def multipliers(demands: Integers, room: Integers, totals: Integers, worth: Reals, budget: Budget) -> Reals:
    """Return the duals of the linear relaxation of filling one server, non-negative, shape (resources,).

    For any multipliers, the worth of any filling is at most the price of the room's resources, plus the worth
    of all workers beyond the price of their resources. The returned multipliers minimize this bound. Returns
    zeros if time runs out.
    """
    wanted = np.flatnonzero((worth > 0) & (totals > 0) & (demands <= room).all(axis=1))
    if room.size == 1:
        return _critical(demands[wanted, 0], int(room[0]), totals[wanted], worth[wanted])
    share = demands[wanted] / np.maximum(room, 1)  # rows in full servers, so that bytes and GPUs weigh alike
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
    """Return the worth per size of the first worker that does not fit if those with the highest come first."""
    order = np.argsort(-worth / sizes, kind="stable")
    beyond = np.flatnonzero(np.cumsum((sizes * totals)[order]) > room)
    if not beyond.size:
        return np.zeros(1)
    critical = order[beyond[0]]
    return np.array([worth[critical] / sizes[critical]])
