"""Volume: what a placement costs at least when workers may be cut into parts, a quick bound."""

from itertools import product

import numpy as np
from scipy.sparse import coo_array, csr_array, hstack, vstack

from formulations.placement.packing import Packing
from gsopt.backends import Highs
from gsopt.standard_form import StandardForm

#: What the bound gives away for the solver's tolerance, relative.
_TOLERANCE = 1e-5


def volume(packing: Packing, *, time_limit: float | None) -> float:
    """Solve the linear program in which parts of workers fill parts of servers.

    The pattern model's relaxation is at least as large, and not by much where servers hold many workers.

    Examples
    --------
    >>> from gsopt.problems.placement import Placement, Resources, Server, Workers
    >>> problem = Placement(
    ...     servers=[Server(name="s", count=9, capacity=Resources(gpu=8))],
    ...     workers=[Workers(job=str(gpu), count=4, demand=Resources(gpu=gpu)) for gpu in (5, 2)],
    ... )
    >>> round(volume(Packing.of(problem), time_limit=None), 3)  # 28 GPUs
    3.5
    """
    zones, demands, kinds = len(packing.zones), len(packing.demands), len(packing.kinds)
    parts = [
        (z, i, k)
        for z, zone in enumerate(packing.zones)
        for i, k in product(zone.demands, zone.kinds)
        if (packing.demands[i] <= packing.rooms[k]).all()
    ]
    servers = [(z, k) for z, zone in enumerate(packing.zones) for k in zone.kinds]
    position = {server: index for index, server in enumerate(servers)}
    shares = packing.demands[:, np.newaxis, :] / np.maximum(packing.rooms, 1)
    covers, rows = zones * demands, zones * demands + kinds
    entries = [
        *((z * demands + i, part, 1.0) for part, (z, i, _) in enumerate(parts)),
        *(
            (rows + 3 * position[z, k] + r, part, shares[i, k, r])
            for part, (z, i, k) in enumerate(parts)
            for r in range(3)
        ),
        *((covers + k, len(parts) + server, 1.0) for server, (_, k) in enumerate(servers)),
        *(
            (rows + 3 * server + r, len(parts) + server, -1.0)
            for server in range(len(servers))
            for r in range(3)
        ),
    ]
    row, column, entry = zip(*entries, strict=True)
    filling = coo_array((entry, (row, column)), shape=(rows + 3 * len(servers), len(parts) + len(servers)))
    moving, costs, most = packing.moving
    form = StandardForm.build(
        cost=np.concatenate([costs, np.zeros(len(parts)), packing.costs[[k for _, k in servers]]]),
        matrix=hstack([vstack([moving, csr_array((3 * len(servers), packing.moves))]), filling]),
        row_lower=np.concatenate([packing.needed, np.full(kinds + 3 * len(servers), -np.inf)]),
        row_upper=np.concatenate([np.full(covers, np.inf), packing.limits, np.zeros(3 * len(servers))]),
        column_upper=np.append(most, np.full(len(parts) + len(servers), np.inf)),
        offset=packing.offset,
    )
    outcome = Highs().solve(form.relaxation, time_limit=time_limit)
    if outcome.bound is None:  # the time was up
        return -np.inf
    return outcome.bound - _TOLERANCE * max(1.0, abs(outcome.bound))
