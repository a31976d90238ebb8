"""Packing: the choice of particular rounds for each job, and the use of idle GPUs."""

import numpy as np

from heuristics.policies.shockwave.window import Counts, Plan, Window


def packed(window: Window, counts: Counts) -> Plan | None:
    """Assign jobs to the rounds with the most free GPUs, or return None if some job does not fit.

    Jobs that run in all rounds come first, because they have no choice; then the largest jobs; and among equal
    demands, those with the most rounds. If all demands are equal, this finds a plan if there is one. Otherwise,
    None does not prove that there is no plan.
    """
    plan = np.zeros((len(window.claims), window.rounds), dtype=np.bool_)
    load = np.zeros(window.rounds, dtype=np.int64)

    def rank(job: int) -> tuple[bool, int, int]:
        return bool(counts[job] < window.rounds), -int(window.sizes[job]), -int(counts[job])

    for job in sorted(range(len(counts)), key=rank):
        emptiest = np.argsort(load, kind="stable")[: counts[job]]
        if len(emptiest) and load[emptiest[-1]] + window.sizes[job] > window.gpus:
            return None
        plan[job, emptiest] = True
        load[emptiest] += window.sizes[job]
    return plan


def conserving(window: Window, plan: Plan) -> Plan:
    """Grant the idle GPUs of each round to jobs that fit, those with the most remaining time first."""
    filled, load = plan.copy(), window.load(plan)
    for job in sorted(range(len(plan)), key=lambda job: -window.claims[job].left):
        added = ~filled[job] & (load + window.sizes[job] <= window.gpus)
        filled[job] |= added
        load[added] += window.sizes[job]
    return filled
