"""Pricers: the choice of the pricing method for a zone."""

import numpy as np

from formulations.placement.labels import LabelPricing
from formulations.placement.packing import Packing, Zone
from formulations.placement.pricing import Pricer
from formulations.placement.table import WorthTable

#: Entries of a table, and steps in which it is filled, up to which it is the faster way.
_ENTRIES, _STEPS = 2_000_000, 5_000

#: Share of the demands that have more workers than a server holds from which on all are taken to have.
_MOST = 0.5


def pricer(packing: Packing, zone: Zone) -> Pricer | None:
    """Choose the pricing method for a zone, or return None for a zone without servers.

    The method is a table if amounts are coarse and most demands have more workers than a server holds, as the
    table does not limit the number of workers. Otherwise it is labels.
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
