"""Counting: fast bounds that count the total amount of each resource and need no solver."""

from fractions import Fraction
from math import ceil

import numpy as np

from formulations.placement.packing import Integers, Packing

#: Parameters of the rounding functions that are tried for each resource.
_DIVISORS = range(1, 21)


def counting_bound(packing: Packing) -> int | None:
    """Bound the objective by counting each resource, or return None if some resource does not suffice.

    Servers that cost nothing cover part of the need for a resource. The rest must come from other servers, at
    best from those that offer the most per unit of cost. If each of these costs 1, the sizes of workers
    strengthen the bound: a dual feasible function increases large sizes and reduces small ones, but workers
    that fit on a server still add up to at most one server.

    Source: Martello and Toth, "Lower bounds and reduction procedures for the bin packing problem", Discrete
    Applied Mathematics 28 (1990); Fekete and Schepers, "New classes of fast lower bounds for bin packing
    problems", Mathematical Programming 91 (2001), for the functions.
    """
    if not len(packing.kinds):
        return None if packing.totals.sum() else packing.floor
    needed = packing.totals @ packing.demands
    most = 0
    for resource, need in enumerate(needed.tolist()):
        rooms = packing.rooms[:, resource]
        cover = _cover(need, rooms, packing.costs, packing.limits)
        if cover is None:
            return None
        most = max(most, cover)
        if packing.costs.max() == 1:
            sizes = packing.demands[:, resource]
            servers = _servers(sizes, packing.totals, int(rooms.max()))
            most = max(most, servers - int(packing.limits[packing.costs == 0].sum()))
    return packing.floor + most


def _cover(need: int, rooms: Integers, costs: Integers, limits: Integers) -> int | None:
    """Return the minimum cost of servers that offer enough of one resource, one of them fractionally."""
    free = costs == 0
    rest = need - int(rooms[free] @ limits[free])
    total = Fraction(0)
    paid = np.flatnonzero(~free & (rooms > 0))
    for kind in sorted(paid.tolist(), key=lambda kind: Fraction(int(costs[kind]), int(rooms[kind]))):
        if rest <= 0:
            break
        taken = min(Fraction(rest, int(rooms[kind])), Fraction(int(limits[kind])))
        total += taken * int(costs[kind])
        rest -= int(limits[kind]) * int(rooms[kind])
    return None if rest > 0 else ceil(total)


def _servers(sizes: Integers, totals: Integers, capacity: int) -> int:
    """Return the largest number of servers that some dual feasible function proves to be necessary."""
    order = np.argsort(sizes)
    sizes, totals = sizes[order], totals[order]
    number, amount = (np.append(0, np.cumsum(values)) for values in (totals, totals * sizes))
    small = np.unique(np.append(0, sizes[2 * sizes <= capacity]))  # smaller sizes are ignored
    first = np.searchsorted(sizes, small)
    large = np.searchsorted(sizes, capacity - small, side="right")  # each larger size counts as a whole server
    middle = amount[large] - amount[first]
    servers = int((number[-1] - number[large] - (-middle // capacity)).max())
    for divisor in _DIVISORS:
        times = (divisor + 1) * sizes
        whole = np.where(times % capacity == 0, divisor * sizes, times // capacity * capacity)
        servers = max(servers, -(-int(totals @ whole) // (divisor * capacity)))
    return servers
