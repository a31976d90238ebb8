"""Places: the least part of a shared GPU that each job takes up."""

from collections import Counter
from typing import Any

import numpy as np

from gsopt.core.numbers.tolerances import ULPS
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds.work import area

Array = np.ndarray[Any, Any]


def places(scenario: Scenario) -> list[float]:
    """Return the places that each job takes up on each of its GPUs; a GPU has ``share_limit`` places.

    Let w_j be weights of at most 1 with w_j / xi_jk + w_k / xi_kj <= 1 for any two jobs, xi_jk being the
    slowdown of j beside k. Beside others a job is at most 1 / xi as fast as alone, xi being that of its worst
    partner. So two jobs on a GPU have w_j rho_j + w_k rho_k <= 1, rho being their speeds in parts of those
    alone. Adding this up over all pairs of c jobs on a GPU gives a sum of w_j rho_j of at most c / 2; a job
    alone has at most 1. So where up to C >= 2 jobs may share, the sum over all GPUs of 2 w_j rho_j is at most C
    times their number: a job at full speed on 2 w_j places of each of its GPUs, of C places each, would do the
    same work as fast. Without slowdowns that is one place; with slowdowns of 2 it is two, and a pair is no
    better than one job after the other.

    The weights of each pair are alike at first; then each grows as far as the others leave it, those of models
    with the most work first. The weights are our own.
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
    """Return weights of models by their slowdowns beside each other, where they may meet."""
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
