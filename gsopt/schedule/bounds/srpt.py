"""SRPT: shortest remaining processing time first on one machine as fast as all GPUs."""

from heapq import heappop, heappush, heapreplace
from math import inf

from gsopt.core.numbers.grid import Exact, Number
from gsopt.scenario.job import Workload
from gsopt.schedule.bounds.work import Steps


def srpt_bound(workload: Workload, gpus: Number) -> Exact:
    """Bound the sum of completion times by shortest remaining time on one machine as fast as all GPUs.

    Takes O(n log n).

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Workload
    >>> jobs = [Job(name=name, release_date=0, duration=2, gpus=1) for name in "ab"]
    >>> srpt_bound(Workload(jobs=jobs), 2)
    3
    """
    steps = Steps.of(workload, gpus)
    return steps.completed(sum(srpt_completions(steps)))


def srpt_completions(steps: Steps) -> list[int]:
    """Complete the sizes by shortest remaining time on one machine."""
    completions: list[int] = []
    pending: list[int] = []
    now = 0
    for size, arrival, limit in zip(steps.size, steps.release, [*steps.release, inf][1:], strict=True):
        now = max(now, arrival) if not pending else now
        heappush(pending, size)
        while pending and now < limit:
            if now + pending[0] > limit:
                heapreplace(pending, pending[0] - (int(limit) - now))
                now = int(limit)
            else:
                now += heappop(pending)
                completions.append(now)
    return completions
