"""Relaxed: a linear program that checks whether deadlines could be met if time and GPUs were divisible."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from gsopt.core.numbers.hull import concave_hull
from gsopt.core.numbers.tolerances import FEASIBILITY
from heuristics.policies.elasticflow.plan import keeps_all
from heuristics.policies.elasticflow.profile import PlannedShare, ProfileRequest


def could_keep_all(
    requests: Sequence[ProfileRequest],
    gpus: int,
    length: float,
    before: Mapping[int, PlannedShare] | None = None,
) -> bool:
    """Check whether all deadlines could be met if GPUs and time were arbitrarily divisible.

    This relaxes every plan in whole slots, so if the answer is no, every plan makes some job late. Each request
    must have a deadline.

    Sets: jobs j; periods k between consecutive deadlines; segments s of the concave hull of each job's speeds.

    Parameters: work w_j and deadline d_j of job j; additional GPUs g_js and additional speed v_js of segment s;
    length l_k of period k, in seconds; total number of GPUs G.

    Variables: y_jks in [0, l_k]: seconds for which job j uses segment s in period k, for periods that end no
    later than d_j; p: the smallest fraction of its work that any job completes.

    Objective: maximize p. All deadlines can be met if the maximum is at least 1.

    Constraints: sum_ks v_js y_jks >= w_j p for each job j; sum_js g_js y_jks <= G l_k for each period k.

    Size: O(J^2 S) variables and O(J) rows for J jobs with at most S segments each.

    Source: gsopt's own, a relaxation of ElasticFlow's admission rule (ASPLOS 2023, section 4.1).
    """
    if keeps_all(requests, gpus, length, before):
        return True  # and there is nothing to compute
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix

    ends = sorted({max(request.slots or 0, 0) for request in requests})
    if not requests or ends[0] == 0:
        return not requests
    seconds = [(late - early) * length for early, late in pairwise([0, *ends])]
    rows, columns, entries = list[int](), list[int](), list[float]()
    upper: list[float | None] = [None]
    for row, request in enumerate(requests):
        rows, columns, entries = [*rows, row], [*columns, 0], [*entries, request.work]
        for segment in concave_hull(zip(request.levels, request.speeds, strict=True)):
            for period, (end, time) in enumerate(zip(ends, seconds, strict=True)):
                if end <= (request.slots or 0):
                    rows += [row, len(requests) + period]
                    columns += [len(upper)] * 2
                    entries += [-segment.speed, segment.gpus]
                    upper.append(time)
    shape = (len(requests) + len(ends), len(upper))
    place = (np.array(rows), np.array(columns))
    matrix: Any = csr_matrix((np.array(entries), place), shape=shape)
    limits = [0.0] * len(requests) + [gpus * time for time in seconds]
    cost = [-1.0] + [0.0] * (len(upper) - 1)
    bounds = [(0.0, most) for most in upper]
    found = linprog(cost, A_ub=matrix, b_ub=limits, bounds=bounds, method="highs-ipm")
    return found.status == 0 and found.fun is not None and -found.fun >= 1 - FEASIBILITY
