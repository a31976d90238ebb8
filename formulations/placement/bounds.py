"""Bounds: what prices prove of the objective of a packing, whoever set them."""

from dataclasses import dataclass
from math import ceil

import numpy as np

from formulations.placement.packing import Packing, Reals

#: What rounding up forgives, and the relative precision of a sum of floats.
_ROUNDING, _PRECISION = 1e-6, 1e-11


@dataclass(frozen=True, eq=False)
class Prices:
    """What workers are worth, and the most that fillings are.

    Attributes
    ----------
    worth
        Worth of a worker of each demand in each zone, non-negative, shape (zones, demands).
    most
        Upper bound on the worth of any filling, for each zone and kind, shape (zones, kinds); 0 where a kind
        is not in the zone.
    """

    worth: Reals
    most: Reals


def lagrange(packing: Packing, prices: Prices, *, counting_cost: bool = True) -> float:
    """Give the Lagrangian bound: workers pay what they are worth, moves and servers take what they can get.

    Parameters
    ----------
    packing
        The packing.
    prices
        Any prices; those of the relaxation's optimum give its value.
    counting_cost
        Whether costs count. Without them a bound above 0 proves that there is no solution.
    """
    moving, costs, times = packing.moving
    paid = prices.worth.ravel() @ packing.needed
    moves = counting_cost * costs - moving[: prices.worth.size].T @ prices.worth.ravel()
    servers = counting_cost * packing.costs - prices.most.max(axis=0, initial=0.0)
    taken = times @ np.minimum(moves, 0.0) + packing.limits @ np.minimum(servers, 0.0)
    return counting_cost * packing.offset + float(paid + taken)


def better_than(packing: Packing, prices: Prices, value: int) -> int:
    """Bound every solution that is better than a known value; the value itself where there is none.

    Where the prices leave a better solution no choice of moves, its zones have nothing in common but the
    servers, and what each zone costs is rounded up by itself.
    """
    least = lagrange(packing, prices)
    if not np.isfinite(least):
        return packing.floor
    moving, costs, times = packing.moving
    gains = costs - moving[: prices.worth.size].T @ prices.worth.ravel()
    if (least + np.abs(gains) < value + _ROUNDING).any():
        return min(round_up(packing, least), value)
    moved = np.where(gains < 0, times, 0)
    needs = (packing.needed - moving[: prices.worth.size] @ moved).reshape(prices.worth.shape)
    servers = np.minimum(packing.costs - prices.most, 0.0) @ packing.limits
    zones = (prices.worth * needs).sum(axis=1) + servers
    step = _step(packing)
    total = packing.offset + int(costs @ moved) + sum(step * _ceiling(zone / step) for zone in zones.tolist())
    return min(max(total, round_up(packing, least)), value)


def round_up(packing: Packing, bound: float) -> int:
    """Round a bound up to the next value that the objective can have."""
    step = int(np.gcd.reduce(packing.moving[1], initial=_step(packing)))
    return packing.offset + step * _ceiling((bound - packing.offset) / step)


def _step(packing: Packing) -> int:
    return int(np.gcd.reduce(packing.costs, initial=0)) or 1


def _ceiling(value: float) -> int:
    return ceil(value - _ROUNDING - _PRECISION * abs(value))
