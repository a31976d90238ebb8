"""Maximal patterns: the enumeration of all fillings of a server to which no further worker can be added."""

import numpy as np

from formulations.placement.layers import extend, fitting
from formulations.placement.packing import FillPatterns, Integers, Packing
from gsopt.core.budget import Budget

#: The enumeration gives up after this many fillings per maximal filling allowed.
_EFFORT = 20

#: Largest number of demands that fit on one server for which patterns are enumerated at all.
_MOST_DEMANDS = 200


def maximal_patterns(packing: Packing, *, limit: int, budget: Budget) -> FillPatterns | None:
    """Enumerate the maximal patterns of every zone and kind, or return None if there are too many.

    There are too many if they exceed `limit`, if workers of more than 200 demands can run on the same kind of
    server, or if the enumeration takes too many steps or reaches the time limit. A pattern never holds more
    workers of a demand than exist. It is maximal if none of the remaining workers would fit. All fillings are
    extended demand by demand, in descending order of the share of the server that a worker takes up.
    """
    zone_of: list[int] = []
    kind_of: list[int] = []
    counts = [np.zeros((0, len(packing.demands)), dtype=np.int64)]
    for z, zone in enumerate(packing.zones):
        for k in zone.kinds:
            fillings = _fillings(packing, k, np.array(zone.demands), limit - len(kind_of), budget)
            if fillings is None:
                return None
            zone_of += [z] * len(fillings)
            kind_of += [k] * len(fillings)
            counts.append(fillings)
    return FillPatterns(np.array(zone_of, dtype=np.int64), np.array(kind_of, dtype=np.int64), np.vstack(counts))


def _fillings(packing: Packing, kind: int, demands: Integers, limit: int, budget: Budget) -> Integers | None:
    """Enumerate the maximal fillings of one kind of server, or return None if there are too many."""
    room = packing.rooms[kind]
    suited = demands[(packing.demands[demands] <= room).all(axis=1)]
    if suited.size > _MOST_DEMANDS:
        return None
    share = (packing.demands[suited] / np.maximum(room, 1)).max(axis=1, initial=0.0)
    order = suited[np.argsort(-share, kind="stable")]
    free = room[:, np.newaxis]
    counts = np.zeros((1, len(packing.demands)), dtype=np.int64)
    for demand in order.tolist():
        is_last = demand == order[-1]  # with fewer workers of the last demand, a filling is not maximal
        need = packing.demands[demand]
        holds = fitting(free, need, int(packing.totals[demand]))
        if is_last:
            counts[:, demand] = holds
            free = free - need[:, np.newaxis] * holds
            break
        if int(holds.sum()) + holds.size > _EFFORT * limit or budget.passed:
            return None
        parents, numbers, free = extend(free, need, holds)
        counts = counts[parents]
        counts[:, demand] = numbers
    maximal = np.ones(len(counts), dtype=np.bool_)
    for demand in order.tolist():
        need, total = packing.demands[demand], packing.totals[demand]
        maximal &= (counts[:, demand] == total) | (free < need[:, np.newaxis]).any(axis=0)
    return counts[maximal] if maximal.sum() <= limit else None
