"""Bounds: lower bounds on the objective of a packing that hold for any prices.

Sums of floats are reduced by their largest possible rounding error, so the bounds are safe.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from formulations.placement.packing import Packing, Reals


@dataclass(frozen=True, eq=False)
class WorkerPrices:
    """Prices of workers, with upper bounds on the total price of the workers on one server."""

    worth: Reals  # price of a worker of each demand in each zone, non-negative, shape (zones, demands)
    # upper bound on the worth of any filling of each kind in each zone, shape (zones, kinds); 0 if a kind is
    # not in the zone
    most: Reals


def lagrange(packing: Packing, prices: WorkerPrices, *, counting_cost: bool = True) -> float:
    """Return the Lagrangian bound: the price of all workers, minus the maximum profit of all moves and servers.

    The profit of a server is at most the highest total price of workers that it can hold, minus its cost. The
    profit of a move is the amount by which it lowers the price of the moved workers, minus its cost. The bound
    is valid for any prices, and for the duals of the relaxation it equals the relaxation's value. Without
    `counting_cost`, all costs are 0, so that a bound above 0 proves infeasibility.
    """
    if not np.isfinite(prices.most).all():
        return -np.inf
    moving, costs, times = packing.moving
    worth = prices.worth.ravel()
    paid = worth * packing.needed
    moves = counting_cost * costs - moving[: worth.size].T @ worth
    servers = counting_cost * packing.costs - prices.most.max(axis=0, initial=0.0)
    taken = np.append(times * np.minimum(moves, 0.0), packing.limits * np.minimum(servers, 0.0))
    size = np.abs(costs) @ times + packing.costs @ packing.limits + paid.sum() + _paid_in_moves(packing, worth)
    size += packing.limits @ prices.most.max(axis=0, initial=0.0)
    total = paid.sum() + taken.sum()
    return counting_cost * packing.offset + float(total - _rounding(packing) * size)


def better_than(packing: Packing, prices: WorkerPrices, value: int) -> int:
    """Return a lower bound on the value of every solution that is better than a given value.

    If the bound equals the given value, there is no such solution. If the prices determine all moves of such a
    solution, the bound is rounded up for each zone (`Zone`) separately.
    """
    least = lagrange(packing, prices)
    if not np.isfinite(least):
        return packing.floor
    moving, costs, times = packing.moving
    worth: Reals = prices.worth.ravel()
    gains = costs - moving[: worth.size].T @ worth
    wrong = _rounding(packing) * (np.abs(costs) + abs(moving[: worth.size]).T @ worth)
    if (least + np.abs(gains) - wrong < value).any():
        return min(round_up(packing, least), value)
    moved = np.where(gains < 0, times, 0)
    needs = (packing.needed - moving[: worth.size] @ moved).reshape(prices.worth.shape)
    servers = np.minimum(packing.costs - prices.most, 0.0) @ packing.limits
    size = (prices.worth * np.abs(needs)).sum(axis=1) + (packing.costs + prices.most) @ packing.limits
    zones = (prices.worth * needs).sum(axis=1) + servers - _rounding(packing) * size
    step = _step(packing)
    total: int = packing.offset + int(costs @ moved)
    total += sum(step * ceil(zone / step) for zone in zones.tolist())
    return min(max(total, round_up(packing, least)), value)


def round_up(packing: Packing, bound: float) -> int:
    """Round a bound up to the next value that the objective can take."""
    step = int(np.gcd.reduce(packing.moving[1], initial=_step(packing)))
    return packing.offset + step * ceil((bound - packing.offset) / step)


def _step(packing: Packing) -> int:
    return int(np.gcd.reduce(packing.costs, initial=0)) or 1


def _paid_in_moves(packing: Packing, worth: Reals) -> float:
    moving, _, times = packing.moving
    return float(worth @ (abs(moving[: worth.size]) @ times))


def _rounding(packing: Packing) -> float:
    """Return a bound on the relative error of sums over all workers, servers and moves, added in any order."""
    terms = packing.totals.sum() + packing.limits.size + packing.needed.size + packing.moves
    return float(terms + 10) * float(np.finfo(np.float64).eps)
