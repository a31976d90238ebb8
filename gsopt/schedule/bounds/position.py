"""Position: lower bounds on the first, second, ... completion time."""

from heapq import heappop, heappush, heapreplace
from math import inf

from gsopt.core.numbers.grid import Exact, Number, float_below
from gsopt.scenario.job import Workload
from gsopt.schedule.bounds.work import Steps


def height_bound(workload: Workload, gpus: Number) -> Exact:
    """Return a lower bound: the sum of completion times if each job ran alone at its highest speed.

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Workload
    >>> height_bound(Workload(jobs=[Job(name="a", release_date=1, duration=5, gpus=1)]), 4)
    6
    """
    steps = Steps.of(workload, gpus)
    return steps.completed(sum(steps.release) + sum(steps.height))


def srpt_bound(workload: Workload, gpus: Number) -> Exact:
    """Return a lower bound: the sum of completion times under SRPT on a machine as fast as all GPUs combined.

    SRPT always serves the job with the shortest remaining processing time. A job's processing time is the
    minimum GPU-seconds that it needs, divided by the number of GPUs. Complexity: O(n log n).

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Workload
    >>> jobs = [Job(name=name, release_date=0, duration=2, gpus=1) for name in "ab"]
    >>> srpt_bound(Workload(jobs=jobs), 2)
    3
    """
    steps = Steps.of(workload, gpus)
    return steps.completed(sum(srpt_completions(steps)))


def position_bound(workload: Workload, gpus: Number) -> Exact:
    """Return the sum of lower bounds on the first, second, ... completion time.

    On a single machine as fast as all GPUs combined, shortest remaining processing time (SRPT) maximizes the
    number of jobs completed by any given time. Hence the q-th completion of a schedule cannot be earlier than
    the q-th under SRPT. Nor can it be earlier than the q-th smallest sum of a job's release date and its height
    (its minimum duration). The bound is the sum, over all q, of the later of these two times. It is at least as
    good as the SRPT bound and the height bound. Complexity: O(n log n).

    Examples
    --------
    >>> from gsopt.schedule.bounds import height_bound, srpt_bound
    >>> from gsopt.scenario.job import Job, Workload
    >>> jobs = [Job(name=str(i), release_date=0, duration=i + 1, gpus=1) for i in range(4)]
    >>> workload = Workload(jobs=jobs)
    >>> srpt_bound(workload, 2), height_bound(workload, 2), position_bound(workload, 2)
    (10, 10, 11)
    """
    steps = Steps.of(workload, gpus)
    return steps.completed(sum(positions(steps)))


def completions_by_position(workload: Workload, gpus: Number) -> list[float]:
    """Return lower bounds on the first, second, ... completion time, in seconds after the first release."""
    steps = Steps.of(workload, gpus)
    return [float_below(time * steps.seconds) for time in positions(steps)]


def positions(steps: Steps) -> list[int]:
    """Return lower bounds on the first, second, ... completion time, in steps."""
    alone = (release + height for release, height in zip(steps.release, steps.height, strict=True))
    return list(map(max, srpt_completions(steps), sorted(alone)))


def srpt_completions(steps: Steps) -> list[int]:
    """Return the completion times under SRPT on one machine as fast as all GPUs combined.

    SRPT serves the job with the shortest remaining processing time. The result is in time steps, in ascending
    order.
    """
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
