"""Remaining: workers go first to the jobs that have the least GPU time left."""

import math

from heuristics.policies.aryl.epoch import Elastic
from heuristics.policies.aryl.schedulers.growing import Rank


def least_area(exponent: float) -> Rank:
    """Rank steps by the GPU time that the job has left, over their marginal efficiency to a power.

    The GPU time is that on base workers; the marginal efficiency is the further speed per further worker, in
    multiples of the speed per base worker, so 1 throughout for a job that scales linearly. A step that gains
    nothing has no rank.
    """

    def rank(job: Elastic, before: int, after: int) -> float | None:
        gain = (job.speeds[after] - job.speeds[before]) / (after - before)
        if gain <= 0:
            return None
        efficiency = gain * job.base / job.speeds[0]
        return area(job) / math.pow(efficiency, exponent)

    return rank


def area(job: Elastic) -> float:
    """Return the GPU-seconds that a job needs on base workers."""
    return float(job.time) * job.base * job.worker_gpus
