"""Places: a lower limit on the part of a shared GPU that each job takes up."""

from collections import Counter
from typing import Any

import numpy as np

from gsopt.core.numbers.tolerances import ULPS
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.work import area

Array = np.ndarray[Any, Any]


def places(scenario: Scenario) -> list[float]:
    """Return the number of places that each job takes up on its GPUs, which have ``share_limit`` places each.

    Let xi_jk be the slowdown of job j when it shares a GPU with job k, and choose weights w_j <= 1 with w_j /
    xi_jk + w_k / xi_kj <= 1 for any two jobs. Let rho_j be the speed of job j relative to its speed alone; it
    is at most 1 / xi_jk for each partner k. Then w_j rho_j + w_k rho_k <= 1 for any two jobs on the same GPU.
    Adding this up over all pairs of c jobs on a GPU shows that the sum of w_j rho_j is at most c / 2; for a job
    alone on a GPU, it is at most 1. If up to C >= 2 jobs may share a GPU, the sum of 2 w_j rho_j over all GPUs
    is therefore at most C times the number of GPUs. So there is room for the same work if job j runs at full
    speed on 2 w_j of the C places of each of its GPUs, for a fraction rho_j of the time. If no job is ever
    slowed down, each takes up one place. If all slowdowns are 2, each job takes up two places, and sharing is
    no better than running one job after another.

    At first, each weight is the largest that is allowed if the job's partners have the same weight. Then it is
    raised as far as the other weights allow, beginning with the models that have the most work. This choice of
    weights is gsopt's own.
    """
    jobs, speed = scenario.workload.jobs, scenario.speed
    if scenario.share_limit == 1 or len(jobs) <= 1:
        return [1.0] * len(jobs)
    named = speed.interference.keys() | {name for row in speed.interference.values() for name in row}
    models = [job.model if job.model in named else "" for job in jobs]
    work = dict.fromkeys(models, 0.0)
    for model, job in zip(models, jobs, strict=True):
        work[model] += float(area(job))
    first = {model: jobs[number] for number, model in reversed(list(enumerate(models)))}
    order = sorted(work, key=lambda model: -work[model])
    slow = np.array([[speed.interference_of(first[a], first[b]) for b in order] for a in order])
    several = Counter(models)
    meet = ~np.diag([several[model] == 1 for model in order])
    by_model = dict(zip(order, _weights(slow, meet).tolist(), strict=True))
    return [2 * by_model[model] for model in models]


def _weights(slow: Array, meet: Array) -> Array:
    """Return the weights of models, given their mutual slowdowns and the pairs that may meet on a GPU."""
    if (slow[meet] <= 1).all():
        return np.full(len(slow), 0.5)
    together = np.where(meet, 1 / (1 / slow + 1 / slow.T), 1.0)
    found: Array = np.minimum(1.0, together.min(axis=1))
    for model in range(len(slow)):
        others = meet[model].copy()
        others[model] = False
        room = slow[model] * (1 - found / slow[:, model])
        most = min([1.0, together[model, model], *room[others].tolist()])
        found[model] = max(found[model], most)
    found *= 1 - ULPS * float(np.finfo(float).eps)
    return found
