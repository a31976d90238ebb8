"""Start: a first placement by best fit or first fit, on merged servers and workers."""

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import NamedTuple

import numpy as np

from formulations.placement.layers import fitting
from formulations.placement.packing import Filled, Integers, Packing, Reals, Unit
from gsopt.core.budget import Budget


def construct(packing: Packing, budget: Budget) -> Filled | None:
    """Place workers by best fit and by first fit, in several orders, and return the best result.

    Return None if no attempt places all workers, or if time runs out before the first one does.

    Demands are placed one after another, each with all its workers. Best fit places demands in descending order
    of size (the sum of their shares of a server, the largest share, or the share of the first resource) and
    uses the fullest server with room. First fit places them in the order of the problem and uses the first
    server with room. When a new server is needed, those that cost nothing come first, and otherwise the one
    with the most room per unit of cost or, in further attempts, the one with the least room. If pools matter,
    workers are placed unit by unit, and only two of these combinations are tried.

    Unless the budget provides a starting solution, the construction may take 0.3 seconds even if less time is
    left.
    """
    best: Filled | None = None
    grace = _grace(budget) if budget.start is None else budget
    fill = _by_unit if packing.units else _by_demand
    combinations = product(_openings(packing), _orders(packing))
    for opening, order in islice(combinations, _FOR_UNITS if packing.units else None):
        found = fill(packing, order, opening, grace)
        if found is not None and (best is None or packing.value(found) < packing.value(best)):
            best = found
        if grace.passed:
            break
    return best


def _grace(budget: Budget) -> Budget:
    left = budget.left()
    return budget if left is None else Budget(time_limit=max(left, _GRACE))


class _DemandOrder(NamedTuple):
    """An order in which to place demands, each on the first or on the fullest server with room."""

    demands: Integers
    on_first: bool = False


def _orders(packing: Packing) -> list[_DemandOrder]:
    share = packing.demands / np.maximum(packing.rooms.max(axis=0), 1)
    sizes = (share.sum(axis=1), share.max(axis=1), share[:, 0] + share.sum(axis=1) / _TIES)
    in_file = _DemandOrder(np.arange(len(packing.demands)), on_first=True)
    return [in_file, *(_DemandOrder(np.argsort(-size, kind="stable")) for size in sizes)]


def _openings(packing: Packing) -> list[Integers]:
    """Return orders in which to open kinds of servers; those that cost nothing are opened first."""
    room = _weights(packing) @ packing.rooms.T
    by_value = np.lexsort((-room, packing.costs / np.maximum(room, 1 / _TIES), packing.costs > 0))
    by_room = np.lexsort((room, packing.costs > 0))
    return [by_value] if (by_value == by_room).all() else [by_value, by_room]


def _weights(packing: Packing) -> Reals:
    weights: Reals = 1 / np.maximum(packing.rooms.max(axis=0), 1)
    return weights


#: Minimum time in seconds for the first placements if there is no starting solution, regardless of the limit.
_GRACE = 0.3

#: Number of combinations that are tried if workers are placed unit by unit.
_FOR_UNITS = 2

#: Divisor of the sum of shares, which is added to break ties between equal sizes.
_TIES = 1e6


class _Servers:
    """Servers while they are filled, with open servers in arrays and the others counted by kind."""

    def __init__(self, packing: Packing, opening: Integers, left: Integers, *, on_first: bool = False) -> None:
        self._packing = packing
        self._opening = opening.tolist()
        self._weights = _weights(packing)
        self.left = left.copy()
        self._on_first = on_first
        size = min(int(left.sum()), int(packing.totals.sum()))
        self.open = 0
        self.kind, self.zone = np.zeros((2, size), dtype=np.int64)
        self.free = np.zeros((packing.demands.shape[1], size), dtype=np.int64)
        self.entries: list[tuple[Integers, int, Integers]] = []

    def place(self, demand: int, number: int, zone: int) -> int:
        """Place workers of one demand in a zone, and return how many of them found no room."""
        rest = self._on_open(demand, number, zone)
        for kind in self._opening:
            if not rest:
                break
            if self.left[kind] and kind in self._packing.zones[zone].kinds:
                rest = self._on_new(demand, rest, zone, kind)
        return rest

    def _on_open(self, demand: int, number: int, zone: int) -> int:
        free = self.free[:, : self.open]
        roomy = (free >= self._packing.demands[demand][:, np.newaxis]).all(axis=0)
        servers = np.flatnonzero(roomy & (self.zone[: self.open] == zone))
        if not self._on_first:
            servers = servers[np.argsort(self._weights @ free[:, servers], kind="stable")]
        servers = servers[:number]
        holds = fitting(free[:, servers], self._packing.demands[demand], number)
        return self._put(demand, number, servers, holds)

    def _on_new(self, demand: int, number: int, zone: int, kind: int) -> int:
        room = self._packing.rooms[kind]
        each = int(fitting(room[:, np.newaxis], self._packing.demands[demand], number)[0])
        if not each:
            return number
        count = min(int(self.left[kind]), -(-number // each))
        new = np.arange(self.open, self.open + count)
        self.open += count
        self.left[kind] -= count
        self.kind[new], self.zone[new] = kind, zone
        self.free[:, new] = room[:, np.newaxis]
        return self._put(demand, number, new, np.full(count, each))

    def _put(self, demand: int, number: int, servers: Integers, holds: Integers) -> int:
        before = np.cumsum(holds) - holds
        numbers = np.clip(number - before, 0, holds)
        self.free[:, servers] -= self._packing.demands[demand][:, np.newaxis] * numbers
        self.entries.append((servers, demand, numbers))
        return number - int(numbers.sum())

    def filled(self, moved: Integers) -> Filled:
        """Return the contents of the servers as patterns, with the number of uses of each."""
        contents: list[dict[int, int]] = [{} for _ in range(self.open)]
        for servers, demand, numbers in self.entries:
            for server, number in zip(servers.tolist(), numbers.tolist(), strict=True):
                if number:
                    contents[server][demand] = contents[server].get(demand, 0) + number
        return self._packing.filled(moved, zip(self.zone.tolist(), self.kind.tolist(), contents, strict=False))


def complete(packing: Packing, needs: Integers, left: Integers) -> Filled | None:
    """Place the given numbers of workers on the remaining servers; return None if a worker does not fit."""
    servers = _Servers(packing, _openings(packing)[0], left)
    for demand in _orders(packing)[-1].demands.tolist():
        if needs[demand] and servers.place(demand, int(needs[demand]), 0):
            return None
    return servers.filled(np.zeros(0, dtype=np.int64))


def _by_demand(packing: Packing, order: _DemandOrder, opening: Integers, budget: Budget) -> Filled | None:
    servers = _Servers(packing, opening, packing.limits, on_first=order.on_first)
    for demand in order.demands.tolist():
        if budget.passed or servers.place(demand, int(packing.totals[demand]), 0):
            return None
    return servers.filled(np.zeros(0, dtype=np.int64))


def _by_unit(packing: Packing, order: _DemandOrder, opening: Integers, budget: Budget) -> Filled | None:
    servers = _Servers(packing, opening, packing.limits, on_first=order.on_first)
    moved = np.zeros(packing.moves, dtype=np.int64)
    rank = np.argsort(order.demands)
    parts = [packing.parts(unit) for unit in packing.units]
    for u in sorted(range(len(parts)), key=lambda u: min(int(rank[demand]) for demand, _, _ in parts[u])):
        for times in _portions(packing.units[u]):
            if budget.passed or not _place_unit(packing, servers, moved, u, parts[u], times):
                return None
    return servers.filled(moved)


def _portions(unit: Unit) -> Iterator[int]:
    """Yield how many copies of a unit to place at a time: all at once for single workers, otherwise one."""
    if unit.alone:
        yield unit.number
    else:
        yield from (1 for _ in range(unit.number))


def _place_unit(
    packing: Packing,
    servers: _Servers,
    moved: Integers,
    u: int,
    parts: Sequence[tuple[int, int, int]],
    times: int,
) -> bool:
    """Place a unit in the cheaper pool or, if it does not fit, in the other; return whether there was room."""
    unit, rest = packing.units[u], times
    for inference in (True, False) if unit.moving < 0 else (False, True):
        before = servers.free.copy(), servers.left.copy(), servers.open, len(servers.entries)
        shared = np.zeros(packing.moves, dtype=np.int64)
        missing = 0
        for demand, zone, number in parts:
            missing = servers.place(demand, number * rest, zone if inference else 0)
            if missing and inference and zone != packing.shared_zone:  # better sharing than nowhere
                shared[len(packing.units) + demand] = missing
                missing = servers.place(demand, missing, packing.shared_zone)
                shared[len(packing.units) + demand] -= missing
            if missing and not unit.alone:
                break
        if missing and not unit.alone:
            servers.free, servers.left, servers.open = before[:3]
            del servers.entries[before[3] :]
            continue
        moved += shared
        moved[u] += (rest - missing) * inference
        rest = missing
        if not rest:
            return True
    return False
