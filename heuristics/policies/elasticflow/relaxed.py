"""Relaxed: whether deadlines could be kept if jobs shared time and GPUs in any parts: a linear programme."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from gsopt.core.numbers.hull import concave_hull
from gsopt.core.numbers.tolerances import FEASIBILITY
from heuristics.policies.elasticflow.plan import keeps_all
from heuristics.policies.elasticflow.profile import PlannedShare
from heuristics.policies.elasticflow.wish import Wish


def could_keep_all(
    wishes: Sequence[Wish], gpus: int, length: float, before: Mapping[int, PlannedShare] | None = None
) -> bool:
    """Check whether the deadlines of all jobs could be kept when GPUs and time are shared in any parts.

    What no parts of time can do no plan in whole slots can: jobs that this refuses are lost in any case.

    Sets: jobs j; times k between deadlines; segments s of the concave hull of the speeds of j, with g_s further
    GPUs and v_s further speed. Parameters: work w_j, deadline d_j, seconds l_k, all GPUs G. Variables: seconds
    y_jks in [0, l_k] of a segment, for times before d_j; the least part p of its work that a job gets done.
    Objective: maximise p. Constraints: sum_ks v_s y_jks >= w_j p for each j; sum_js g_s y_jks <= G l_k for each
    k. All can be kept where p is at least 1. Size: O(J^2 S) variables, O(J) rows.

    Source: gsopt's own, as the relaxation of the admission of ElasticFlow (ASPLOS 2023), section 4.1.
    """
    if keeps_all(wishes, gpus, length, before):
        return True  # and there is nothing to compute
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix

    ends = sorted({max(wish.slots or 0, 0) for wish in wishes})
    if not wishes or ends[0] == 0:
        return not wishes
    seconds = [(late - early) * length for early, late in pairwise([0, *ends])]
    rows, columns, entries = list[int](), list[int](), list[float]()
    upper: list[float | None] = [None]
    for row, wish in enumerate(wishes):
        rows, columns, entries = [*rows, row], [*columns, 0], [*entries, wish.work]
        for segment in concave_hull(zip(wish.levels, wish.speeds, strict=True)):
            for period, (end, time) in enumerate(zip(ends, seconds, strict=True)):
                if end <= (wish.slots or 0):
                    rows += [row, len(wishes) + period]
                    columns += [len(upper)] * 2
                    entries += [-segment.speed, segment.gpus]
                    upper.append(time)
    shape = (len(wishes) + len(ends), len(upper))
    place = (np.array(rows), np.array(columns))
    matrix: Any = csr_matrix((np.array(entries), place), shape=shape)
    limits = [0.0] * len(wishes) + [gpus * time for time in seconds]
    cost = [-1.0] + [0.0] * (len(upper) - 1)
    bounds = [(0.0, most) for most in upper]
    found = linprog(cost, A_ub=matrix, b_ub=limits, bounds=bounds, method="highs-ipm")
    return found.status == 0 and found.fun is not None and -found.fun >= 1 - FEASIBILITY
