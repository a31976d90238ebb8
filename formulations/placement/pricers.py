"""Pricers: the choice of the pricing method for a zone."""

import numpy as np

from formulations.placement.labels import LabelPricing
from formulations.placement.packing import Packing, Zone
from formulations.placement.pricing import Pricer
from formulations.placement.table import WorthTable

#: Largest number of entries of a table, and of steps to fill it, for which a table is faster than labels.
_ENTRIES, _STEPS = 2_000_000, 5_000

#: Minimum share of demands with at least as many workers as a server can hold for which a table is used.
_MOST = 0.5


def pricer(packing: Packing, zone: Zone) -> Pricer | None:
    """Return the pricing method for a zone, or None for a zone without servers.

    The method is `WorthTable` if amounts are coarse and at least half of the demands have as many workers as a
    server can hold, because the table does not limit the number of workers. Otherwise, it is `LabelPricing`.
    """
    rooms = packing.rooms[list(zone.kinds)]
    if not len(rooms):
        return None
    shortest_first = np.argsort(rooms.max(axis=0), kind="stable")
    sizes = rooms.max(axis=0)[shortest_first] + 1.0
    holds = (rooms.max(axis=0) // np.maximum(packing.demands, 1)).min(axis=1)
    plenty = (packing.totals >= holds).mean() >= _MOST
    if plenty and sizes.prod() <= _ENTRIES and sizes[0] * len(packing.demands) <= _STEPS:
        return WorthTable(packing.demands[:, shortest_first], rooms[:, shortest_first])
    return LabelPricing(packing.demands, rooms, packing.totals)
