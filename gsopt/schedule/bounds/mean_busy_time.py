"""Mean busy time: a bound from a linear program over the jobs' areas, solved by one preemptive schedule."""

from fractions import Fraction
from heapq import heappop, heappush
from math import inf

from gsopt.core.numbers.grid import Exact, Number
from gsopt.scenario.job import Workload
from gsopt.schedule.bounds.work import Steps

#: Number of fractional bits to which means, in steps, are rounded down.
_BITS = 64


def mean_busy_time_bound(workload: Workload, gpus: Number) -> Exact:
    """Return a lower bound on the sum of completion times, derived from mean busy times.

    The mean busy time of a job is the mean point in time at which its area (the minimum GPU-seconds that it
    needs) is processed. Without phases, at least half of its height (its minimum duration) passes from then
    until the job completes; phases that slow down its modes differently may shorten this time
    (`gsopt.schedule.bounds.work.lag`). The sum of all mean busy times is smallest if a single machine, as fast
    as all GPUs combined, always serves the available job with the smallest area, with preemption. The bound is
    this sum plus, for every job, the least time from its mean busy time to its completion.

    Complexity: O(n log n).

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Workload
    >>> jobs = [Job(name=str(i), release_date=0, duration=2, gpus=1) for i in range(2)]
    >>> mean_busy_time_bound(Workload(jobs=jobs), 2)
    4
    """
    steps = Steps.of(workload, gpus)
    return steps.completed(busy_times(steps))


def busy_times(steps: Steps) -> Fraction:
    """Add up, for all jobs, the mean busy time and the least time from it to completion, in steps."""
    left = list(steps.size)
    twice = [0] * len(left)  # the mean of each job, times its size and 2
    pending: list[tuple[int, int]] = []
    now = 0
    for index, (arrival, limit) in enumerate(zip(steps.release, [*steps.release, inf][1:], strict=True)):
        now = max(now, arrival) if not pending else now
        heappush(pending, (steps.size[index], index))
        while pending and now < limit:
            first = pending[0][1]
            if now + left[first] <= limit:
                heappop(pending)
                step = left[first]
            else:
                step = int(limit) - now
            twice[first] += (2 * now + step) * step
            now += step
            left[first] -= step
    means = sum((own << _BITS) // size for own, size in zip(twice, steps.size, strict=True))
    return Fraction(means + (sum(steps.twice_lag) << _BITS), 2 << _BITS)
