"""Mean busy time: the linear program of areas over time, solved by one preemptive schedule."""

from heapq import heappop, heappush
from math import inf

from gsopt.bounds.work import area, arrivals_of, height, sum_from_first_release
from gsopt.job import Workload


def mean_busy_time_bound(workload: Workload, gpus: float) -> float:
    """Bound the sum of completion times by the mean busy times.

    A job completes at least half its height after the mean time at which its work is done; preemptive
    smallest area first on one fast machine minimises the sum of those means. Takes O(n log n).

    Examples
    --------
    >>> from gsopt.job import Job, Workload
    >>> jobs = [Job(name=str(i), release_date=0, duration=2, gpus=1) for i in range(2)]
    >>> mean_busy_time_bound(Workload(jobs=jobs), 2)
    4.0
    """
    return sum_from_first_release(
        workload, _mean_busy_times(workload, gpus), (height(job) / 2 for job in workload.jobs)
    )


def _mean_busy_times(workload: Workload, gpus: float) -> list[float]:
    """Mean time at which each area is worked on by preemptive smallest area first."""
    total = [area(job) / gpus for job in workload.jobs]
    left = list(total)
    means = [0.0] * len(total)
    pending: list[tuple[float, int]] = []
    now = 0.0
    arrivals = arrivals_of(workload)
    for index, (arrival, limit) in enumerate(zip(arrivals, [*arrivals, inf][1:], strict=True)):
        now = max(now, arrival) if not pending else now
        heappush(pending, (total[index], index))
        while pending and now < limit:
            first = pending[0][1]
            if now + left[first] <= limit:
                heappop(pending)
                step, then = left[first], now + left[first]
            else:
                step, then = limit - now, limit
            means[first] += (now + step / 2) * step / total[first]
            now = then
            left[first] -= step
    return means
