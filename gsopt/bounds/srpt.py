"""SRPT: shortest remaining processing time first on one machine as fast as all GPUs."""

from heapq import heappop, heappush, heapreplace
from math import inf

from gsopt.bounds.work import area, arrivals_of, sum_from_first_release
from gsopt.job import Workload


def srpt_bound(workload: Workload, gpus: float) -> float:
    """Bound the sum of completion times by shortest remaining time on one machine as fast as all GPUs.

    Takes O(n log n).

    Examples
    --------
    >>> from gsopt.job import Job, Workload
    >>> jobs = [Job(name=name, release_date=0, duration=2, gpus=1) for name in "ab"]
    >>> srpt_bound(Workload(jobs=jobs), 2)
    3.0
    """
    return sum_from_first_release(workload, srpt_completions(workload, gpus))


def srpt_completions(workload: Workload, gpus: float) -> list[float]:
    """Complete the areas by shortest remaining time on one machine of speed `gpus`."""
    completions: list[float] = []
    pending: list[float] = []
    now = 0.0
    arrivals = arrivals_of(workload)
    for job, arrival, limit in zip(workload.jobs, arrivals, [*arrivals, inf][1:], strict=True):
        now = max(now, arrival) if not pending else now
        heappush(pending, area(job) / gpus)
        while pending and now < limit:
            if now + pending[0] > limit:
                heapreplace(pending, pending[0] - (limit - now))
                now = limit
            else:
                now += heappop(pending)
                completions.append(now)
    return completions
