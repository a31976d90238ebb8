"""Fairness: the fluid fair share of a cluster, and what it says about a schedule.

The reference is generalized processor sharing (GPS): all GPUs are shared equally, as a fluid, among the jobs
that are there. A job is served fairly when it completes no later than it would under it. GPS is no schedule,
since it gives fractions of GPUs beyond what jobs can use, so no policy need be slower and it bounds nothing.
"""

from bisect import insort
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any

from gsopt.clock import clock_error
from gsopt.job import Workload


class VirtualTime:
    """The clock of generalized processor sharing, which runs at GPUs over number of jobs.

    A job that needs W GPU-seconds and arrives at virtual time V finishes at virtual time V + W, whatever
    arrives later. The clock stands still while there is no job. Takes O(log jobs) per arrival.
    Source: Ares, Eq. 2-3.

    Parameters
    ----------
    gpus
        Number of GPUs.
    number
        ``float``, or ``Fraction`` for exact arithmetic.

    Examples
    --------
    >>> clock = VirtualTime(6)
    >>> clock.arrive(0, 12.0), clock.arrive(1, 24.0)
    (12.0, 24.0)
    >>> clock.advance(2.0), clock.value, clock.arrive(2, 12.0)
    ([], 6.0, 18.0)
    >>> clock.advance(None)
    [(0, 5.0), (2, 7.0), (1, 8.0)]
    """

    def __init__(self, gpus: int, number: Callable[[Any], Any] = float) -> None:
        self.value = number(0)
        self._gpus = gpus
        self._zero = number(0)
        self._begin = self._elapsed = self._zero  # of the busy period: less rounding, and none by a time shift
        self._active: list[tuple[Any, int]] = []

    def advance(self, time: Any) -> list[tuple[int, Any]]:
        """Let time pass, to the end when None, and give the jobs that finish, each with its time."""
        finished: list[tuple[int, Any]] = []
        active, gpus, value, elapsed = self._active, self._gpus, self.value, self._elapsed
        limit = None if time is None else time - self._begin
        while active:
            end, job = active[0]
            then = elapsed + (end - value) * len(active) / gpus
            if limit is not None and then > limit:
                value += (limit - elapsed) * gpus / len(active)
                elapsed = limit
                break
            heappop(active)
            value, elapsed = end, then
            finished.append((job, self._begin + then))
        if not active and time is not None:
            self._begin, elapsed = time, self._zero
        self.value, self._elapsed = value, elapsed
        return finished

    def arrive(self, job: int, work: Any) -> Any:
        """Let a job of so many GPU-seconds arrive now, and give its virtual finish time."""
        finish = self.value + work
        heappush(self._active, (finish, job))
        return finish


def gps_finish_times(workload: Workload, gpus: int, *, exact: bool = False) -> list[Any]:
    """Give the finish times under generalized processor sharing, the reference of fairness.

    All GPUs are shared equally and without limits among the jobs that are there. Jobs finish in the order of
    their virtual finish times, ties by number. Takes O(n log n). Source: Ares, Eq. 1-3.

    Returns
    -------
    list
        Seconds, by the number of the job; fractions when `exact`.

    Examples
    --------
    >>> from gsopt.job import Job
    >>> sizes = [("a", 1.5), ("b", 3), ("c", 3.3)]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in sizes]
    >>> [round(time, 9) for time in gps_finish_times(Workload(jobs=jobs), 1)]
    [4.5, 7.5, 7.8]
    """
    number: Callable[[Any], Any] = Fraction if exact else float
    clock = VirtualTime(gpus, number)
    finish: list[Any] = [None] * len(workload.jobs)
    for index, job in enumerate(workload.jobs):
        for done, time in clock.advance(number(job.release_date)):
            finish[done] = time
        clock.arrive(index, number(job.duration) * job.gpus)
    for done, time in clock.advance(None):
        finish[done] = time
    return finish


def capped_gps_finish_times(
    workload: Workload, gpus: int, caps: Sequence[int], *, exact: bool = False
) -> list[Any]:
    """Give the finish times under processor sharing in which no job gets more GPUs than it can use.

    Every job gets an equal share but at most its cap; what is left over is shared among the others. A job's
    speed is proportional to its share. Takes O(n) per arrival and completion.

    Parameters
    ----------
    workload, gpus
        The jobs, and the number of GPUs.
    caps
        Most GPUs of each job, by number.
    exact
        Whether to compute in fractions instead of floats.

    Examples
    --------
    >>> from gsopt.job import Job
    >>> jobs = [Job(name=str(i), release_date=0, duration=d, gpus=1) for i, d in enumerate([1, 1, 2])]
    >>> [str(time) for time in capped_gps_finish_times(Workload(jobs=jobs), 2, [1, 1, 1], exact=True)]
    ['3/2', '3/2', '5/2']
    """
    number: Callable[[Any], Any] = Fraction if exact else float
    jobs = workload.jobs
    left = [number(job.duration) * job.gpus for job in jobs]
    finish: list[Any] = [None] * len(jobs)
    active: list[tuple[int, int]] = []  # by cap
    now, arrived = number(0), 0
    while active or arrived < len(jobs):
        release = number(jobs[arrived].release_date) if arrived < len(jobs) else None
        if release is not None and (not active or release <= now):
            now = max(now, release)
            insort(active, (caps[arrived], arrived))
            arrived += 1
            continue
        shares = _water_fill(active, number(gpus))
        seconds = {job: left[job] / share for job, share in shares.items()}
        step = min(seconds.values())
        if release is not None and release - now < step:
            now, step = release, release - now
        else:
            now += step
        for job, share in shares.items():
            left[job] -= share * step
            if seconds[job] <= step:
                finish[job] = now
        active = [entry for entry in active if finish[entry[1]] is None]
    return finish


def _water_fill(active: Sequence[tuple[int, int]], gpus: Any) -> dict[int, Any]:
    """Share GPUs equally up to the caps, by which the jobs are sorted."""
    shares = {}
    for position, (cap, job) in enumerate(active):
        shares[job] = min(gpus / (len(active) - position), gpus * 0 + cap)
        gpus -= shares[job]
    return shares


def finish_time_fairness(
    completion_times: Sequence[Any], fair_times: Sequence[Any], workload: Workload
) -> list[Any]:
    """Give each job's completion time over that under the fair share, both counted from its release date.

    None for a job that does not complete, and 1 for one whose times differ by no more than the rounding of
    floats explains. Source: Themis; Ares, section 5.1.

    Examples
    --------
    >>> from gsopt.job import Job
    >>> workload = Workload(jobs=[Job(name="a", release_date=2, duration=1, gpus=1)])
    >>> finish_time_fairness([5.0], [4.0], workload)
    [1.5]
    """
    rows = zip(completion_times, fair_times, workload.jobs, strict=True)
    return [
        None if time is None else _ratio(time, fair, type(fair)(job.release_date)) for time, fair, job in rows
    ]


def _ratio(completion: Any, fair: Any, release: Any) -> Any:
    if isinstance(completion, float) and abs(completion - fair) <= clock_error(completion, fair - release):
        return 1.0
    return (completion - release) / (fair - release)


def unfair_fraction(ratios: Iterable[Any]) -> float | None:
    """Give the share of the completed jobs whose ratio is above 1; None without any.

    Examples
    --------
    >>> unfair_fraction([0.5, 1.0, 1.5, None]), unfair_fraction([None])
    (0.3333333333333333, None)
    """
    known = [ratio for ratio in ratios if ratio is not None]
    return sum(ratio > 1 for ratio in known) / len(known) if known else None
