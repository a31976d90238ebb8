"""Volume: a quick lower bound from the relaxation in which workers and servers may be used fractionally."""

import numpy as np
from scipy.sparse import coo_array, csr_array, hstack, vstack

from formulations.placement.linear import solve_relaxation
from formulations.placement.packing import Integers, Packing
from gsopt.core.budget import Budget
from gsopt.core.numbers.tolerances import CONTINUOUS_BOUND
from gsopt.solvers.standard_form import StandardForm

#: Largest size of the program for which the bound is computed.
_LARGEST = 500_000


def volume(packing: Packing, budget: Budget) -> float:
    """Return a lower bound on the objective from a linear program over fractions of workers and servers.

    The bound is minus infinity if the program is too large or the time limit is reached.

    The relaxation of the pattern model is at least as strong, but only slightly stronger if servers hold many
    workers.
    """
    zones, kinds = len(packing.zones), len(packing.kinds)
    demands, resources = packing.demands.shape
    if zones * demands * kinds * resources > _LARGEST:
        return -np.inf
    server_zone, server_kind = _pairs([zone.kinds for zone in packing.zones])
    part_server, part_demand = _pairs([packing.zones[z].demands for z in server_zone.tolist()])
    fits = (packing.demands[part_demand] <= packing.rooms[server_kind[part_server]]).all(axis=1)
    part_server, part_demand = part_server[fits], part_demand[fits]
    parts, servers = part_server.size, server_kind.size
    covers, rows = zones * demands, zones * demands + kinds
    shares = packing.demands[part_demand] / np.maximum(packing.rooms[server_kind[part_server]], 1)
    hold = rows + resources * np.arange(servers)[:, np.newaxis] + np.arange(resources)
    part = np.arange(parts)
    row = [server_zone[part_server] * demands + part_demand, hold[part_server].ravel(), covers + server_kind]
    column = [part, np.repeat(part, resources), parts + np.arange(servers)]
    entry = [np.ones(parts), shares.ravel(), np.ones(servers)]
    row.append(hold.ravel())
    column.append(np.repeat(parts + np.arange(servers), resources))
    entry.append(np.full(hold.size, -1.0))
    shape = (rows + hold.size, parts + servers)
    filling = coo_array((np.concatenate(entry), (np.concatenate(row), np.concatenate(column))), shape=shape)
    moving, costs, most = packing.moving
    form = StandardForm.build(
        cost=np.concatenate([costs, np.zeros(parts), packing.costs[server_kind]]),
        matrix=hstack([vstack([moving, csr_array((hold.size, packing.moves))]), filling]),
        row_lower=np.concatenate([packing.needed, np.full(kinds + hold.size, -np.inf)]),
        row_upper=np.concatenate([np.full(covers, np.inf), packing.limits, np.zeros(hold.size)]),
        column_upper=np.append(most, np.full(parts + servers, np.inf)),
        integer=np.zeros(packing.moves + parts + servers, dtype=np.bool_),
        offset=packing.offset,
    )
    optimum = solve_relaxation(form, budget)
    if optimum is None:
        return -np.inf
    return optimum.objective - CONTINUOUS_BOUND * max(1.0, abs(optimum.objective))


def _pairs(lists: list[tuple[int, ...]]) -> tuple[Integers, Integers]:
    """Return, for every entry of every list, the index of the list and the entry."""
    lengths = np.array([len(each) for each in lists], dtype=np.int64)
    entries = np.array([entry for each in lists for entry in each], dtype=np.int64)
    return np.repeat(np.arange(lengths.size), lengths), entries
