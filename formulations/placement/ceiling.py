"""Ceiling: a proven lower bound on the GPUs that any placement leaves unallocated, for clusters of any size."""

from collections import Counter
from math import lcm
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from gsopt.core.budget import Budget
from gsopt.problems.placement import WHOLE_GPU, Placement, Vector

#: Prices are rounded to multiples of one over this number. The bound is valid for any prices.
_STEPS = 10**12

#: Maximum number of pairs (kind of worker, kind of server). If there are more, only totals are compared.
_MOST = 200_000


def ceiling(problem: Placement, budget: Budget | None = None) -> int:
    """Return a lower bound on the thousandths of GPUs that every placement leaves unallocated.

    The bound comes from a linear program that merges the servers of each kind into one large server and allows
    fractions of workers. The solver only proposes prices of the resources. The bound that they prove is
    computed in integers, so it holds no matter what the solver returns. If the time limit of `budget` ends the
    solver, or if there are more than 200,000 pairs (kind of worker, kind of server), only totals are compared.

    Sets
    ----
    c: kinds of workers that need GPUs. t: kinds of servers. r: resources.

    Parameters
    ----------
    n_c: number of workers of kind c. g_c: GPU capacity that one of them needs, in thousandths. d_cr: amount of
    resource r that one of them needs, which is g_c for GPUs. a_tr: free amount of resource r on all servers of
    kind t, in thousandths for GPUs.

    Variables
    ---------
    x[c, t] >= 0: workers of kind c on servers of kind t, for the pairs in which one server has room for one
    worker, and a GPU type that it accepts.

    Objective
    ---------
    Maximize the sum of g_c x[c, t], which is subtracted from the free GPUs.

    Constraints
    -----------
    serve[c]: the x[c, t] add up to at most n_c. hold[t, r]: the d_cr x[c, t] add up to at most a_tr.

    Size
    ----
    At most one column per pair (kind of worker, kind of server): 2,000 for Alibaba's openb trace.

    Source
    ------
    Weak duality: for prices p_tr >= 0, a worker is worth at most u_c = max(0, max_t (g_c - sum_r p_tr d_cr)),
    and no placement allocates more than sum_c n_c u_c + sum_tr p_tr a_tr.

    Examples
    --------
    >>> from gsopt.problems.placement import Resources, Server, Workers
    >>> problem = Placement(
    ...     minimize="unallocated",
    ...     servers=[Server(name="s", count=2, capacity=Resources(gpu=4, cpu=8))],
    ...     workers=[Workers(job="a", count=9, demand=Resources(gpu=1, cpu=4))],
    ... )
    >>> ceiling(problem)
    4000
    """
    free = sum(server.thousandths * server.count for server in problem.servers)
    needs, kinds = _kinds(problem)
    requested = sum(thousandths * count for (_, thousandths, _), count in needs.items())
    least = max(0, free - requested)
    if not needs or len(needs) * len(kinds) > _MOST:
        return least
    allocated = _priced(list(needs.items()), list(kinds.items()), budget or Budget())
    return max(least, free - allocated)


#: Needs of one kind of worker: amounts (GPUs in thousandths), thousandths of GPUs, and accepted GPU types.
_Need = tuple[Vector, int, tuple[str, ...]]

#: One kind of server: free amounts (GPUs in thousandths), largest free part of a GPU, free GPUs, and GPU type.
_Kind = tuple[Vector, int, int, str]


def _kinds(problem: Placement) -> tuple[Counter[_Need], Counter[_Kind]]:
    """Count the workers of each kind that needs GPUs, and the servers of each kind that has some free."""
    needs: Counter[_Need] = Counter()
    for line, demand in zip(problem.workers, problem.demands, strict=True):
        if line.thousandths:
            needs[(line.thousandths, *demand[1:]), line.thousandths, tuple(line.gpu_types)] += line.count
    kinds: Counter[_Kind] = Counter()
    for server, room in zip(problem.servers, problem.rooms, strict=True):
        if server.thousandths:
            part = WHOLE_GPU if room[0] else WHOLE_GPU - min(server.shared)
            kinds[(server.thousandths, *room[1:]), part, room[0], server.gpu_type] += server.count
    return needs, kinds


def _fits(need: _Need, kind: _Kind) -> bool:
    amounts, thousandths, types = need
    room, part, gpus, gpu_type = kind
    if types and gpu_type not in types:
        return False
    if thousandths > (part if thousandths < WHOLE_GPU else gpus * WHOLE_GPU):
        return False
    return all(amount <= free for amount, free in zip(amounts, room, strict=True))


def _priced(needs: list[tuple[_Need, int]], kinds: list[tuple[_Kind, int]], budget: Budget) -> int:
    """Return an upper bound on the thousandths allocated, by prices that a linear program proposes."""
    resources = len(needs[0][0][0])
    pairs = [
        (c, t) for c, (need, _) in enumerate(needs) for t, (kind, _) in enumerate(kinds) if _fits(need, kind)
    ]
    if not pairs:
        return 0
    scale = [max([1, *(kind[0][r] for kind, _ in kinds)]) for r in range(resources)]
    rows, columns, values = [], [], []
    for column, (c, t) in enumerate(pairs):
        rows.append(c)
        values.append(1.0)
        for r, amount in enumerate(needs[c][0][0]):
            rows.append(len(needs) + t * resources + r)
            values.append(amount / scale[r])
        columns += [column] * (1 + resources)
    limits = [float(number) for _, number in needs]
    limits += [number * kind[0][r] / scale[r] for kind, number in kinds for r in range(resources)]
    found: Any = linprog(  # type: ignore[call-overload]  # its stubs lack sparse matrices
        [-needs[c][0][1] / WHOLE_GPU for c, _ in pairs],
        A_ub=csr_array((values, (rows, columns)), shape=(len(limits), len(pairs))),
        b_ub=limits,
        method="highs",
        options={"time_limit": budget.left()},
    )
    if found.status != 0:  # no optimum, because of the time limit
        return sum(number * kind[0][0] for kind, number in kinds)
    duals = np.maximum(-found.ineqlin.marginals[len(needs) :], 0.0)
    common = lcm(*scale)
    unit = [WHOLE_GPU * (common // each) for each in scale]
    prices = [
        [round(float(dual) * _STEPS) * factor for dual, factor in zip(own, unit, strict=True)]
        for own in duals.reshape(len(kinds), resources)
    ]
    worth = [0] * len(needs)
    for c, t in pairs:
        amounts, thousandths, _ = needs[c][0]
        paid = sum(price * amount for price, amount in zip(prices[t], amounts, strict=True))
        worth[c] = max(worth[c], thousandths * _STEPS * common - paid)
    total = sum(number * worth[c] for c, (_, number) in enumerate(needs))
    for (kind, number), own in zip(kinds, prices, strict=True):
        total += number * sum(price * amount for price, amount in zip(own, kind[0], strict=True))
    return total // (_STEPS * common)
