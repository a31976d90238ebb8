"""Fairness: the fluid fair share of a cluster, used as a reference for schedules.

The reference is processor sharing: the jobs present share all GPUs equally, as if GPUs were a fluid, except
that no job gets more GPUs than it can use. A job is treated fairly if it completes no later than under this
reference. The reference is not a schedule, since it assigns fractions of GPUs. Nor is it a bound, since
policies may be faster.

Generalized processor sharing (GPS) has no caps. It is the reference in Ares' theorem and in elastic fair
queuing. Under GPS, a one-GPU job that is alone in a cluster of 64 GPUs would take 1/64 of its duration.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from math import ulp
from typing import Any

from gsopt.core.numbers.clock import clock_error
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario


class VirtualTime:
    """The clock of generalized processor sharing; its rate is the number of GPUs per job present.

    A job that needs W GPU-seconds and arrives at virtual time V finishes at virtual time V + W, no matter
    which jobs arrive later. The clock stops while there are no jobs. Each arrival takes O(log n) for n jobs.
    Source: Ares, Eq. 2-3.
    """

    def __init__(self, gpus: int, number: Callable[[Any], Any] = float) -> None:
        self.value = number(0)
        self._gpus = gpus
        self._zero = number(0)
        self._begin = self._elapsed = self._zero  # of the busy period: less rounding, and none by a time shift
        self._active: list[tuple[Any, int]] = []

    def advance(self, time: Any) -> list[tuple[int, Any]]:
        """Advance to `time`, and return the jobs that finish by then, with their times.

        If `time` is None, advance until all jobs have finished.
        """
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
        """Add a job with `work` GPU-seconds that arrives now, and return its virtual finish time."""
        finish = self.value + work
        heappush(self._active, (finish, job))
        return finish


def gps_finish_times(workload: Workload, gpus: int, *, exact: bool = False) -> list[Any]:
    """Return the finish times under generalized processor sharing, the reference in Ares' theorem.

    The jobs present share all GPUs equally, without caps. Jobs finish in ascending order of their virtual
    finish times, with ties broken by index. Complexity: O(n log n) for n jobs. Source: Ares, Eq. 1-3.
    """
    number: Callable[[Any], Any] = Fraction if exact else float
    return _finish_times(VirtualTime(gpus, number), workload, number)


def _finish_times(
    fluid: "VirtualTime | _CappedFluid", workload: Workload, number: Callable[[Any], Any]
) -> list[Any]:
    finish: list[Any] = [None] * len(workload.jobs)
    for index, job in enumerate(workload.jobs):
        for done, time in fluid.advance(number(job.release_date)):
            finish[done] = time
        fluid.arrive(index, number(job.duration) * job.gpus)
    for done, time in fluid.advance(None):
        finish[done] = time
    return finish


@dataclass(frozen=True)
class FairTimes:
    """The finish times of a scenario's jobs under two fairness references, on the scenario's clock.

    One reference caps the GPUs of a job at what it can use. The other, generalized processor sharing, does not.
    """

    fair: Sequence[Any]  # under the fair share capped at what each job can use, see `fair_finish_times`
    gps: Sequence[Any]  # under generalized processor sharing, see `gps_finish_times`

    @classmethod
    def of(cls, scenario: Scenario, *, exact: bool = False) -> "FairTimes":
        """Compute the finish times under both references, as fractions if `exact` is set."""
        workload, gpus = scenario.workload.since(scenario.clock), scenario.cluster.gpus
        fair = fair_finish_times(workload, gpus, exact=exact)
        return cls(fair, gps_finish_times(workload, gpus, exact=exact))


def fair_finish_times(workload: Workload, gpus: int, *, exact: bool = False) -> list[Any]:
    """Return the finish times under the fair share: processor sharing capped at each job's usable GPUs.

    This is the reference for finish-time fairness. See `usable_gpus` and `capped_gps_finish_times`.
    """
    number: Callable[[Any], Any] = Fraction if exact else float
    caps = [usable_gpus(job, gpus, number) for job in workload.jobs]
    return capped_gps_finish_times(workload, gpus, caps, exact=exact)


def usable_gpus(job: Job, gpus: int, number: Callable[[Any], Any] = float) -> Any:
    """Return the largest number of GPUs that a job can use under processor sharing.

    This is the number of GPUs that the job demands, multiplied by its highest speed in any mode on up to `gpus`
    GPUs. The speed under processor sharing is proportional to the share, so with a larger share the job
    would be faster than it can ever be.
    """
    if not job.menu and not job.modes:
        return number(job.gpus)
    speeds = (speed for menu in job.speeds.values() for count, speed in menu.items() if count <= gpus)
    return number(job.gpus) * number(max(speeds, default=1.0))


def capped_gps_finish_times(
    workload: Workload, gpus: int, caps: Sequence[Any], *, exact: bool = False
) -> list[Any]:
    """Return the finish times under processor sharing with a cap on the number of GPUs of each job.

    Every job gets an equal share, but at most its (positive) cap, and the other jobs share the remainder. A
    job's speed is proportional to its share. With n jobs, each arrival and each completion takes O(log n), plus
    O(log n) for each cap that the equal share passes when it changes.
    """
    number: Callable[[Any], Any] = Fraction if exact else float
    return _finish_times(_CappedFluid(gpus, caps, number), workload, number)


class _FluidGroup:
    """The jobs with the same cap, and the service received by a job that was present from the beginning."""

    def __init__(self, cap: Any, zero: Any) -> None:
        self.cap = cap
        self.ends: list[tuple[Any, int]] = []  # service at which each job finishes
        self.base = self.since = zero  # service at an earlier time, and that time or level
        self.version = 0  # of its entry among the next to finish


class _CappedFluid:
    """Processor sharing with caps.

    Jobs with small caps get as many GPUs as their cap, and their service grows with time. The other jobs
    share the remaining GPUs equally, and their service grows with the level, which is the service of a job
    without a cap. Jobs are grouped by cap, and a group switches sides when the equal share crosses its cap.
    Time and level are counted from the beginning of a busy period, so that late dates cost no precision.
    """

    def __init__(self, gpus: int, caps: Sequence[Any], number: Callable[[Any], Any]) -> None:
        zero = number(0)
        self._gpus, self._zero = gpus, zero
        ascending = sorted({number(cap) for cap in caps})
        self._groups = [_FluidGroup(cap, zero) for cap in ascending]
        rank = {cap: place for place, cap in enumerate(ascending)}
        self._rank = [rank[number(cap)] for cap in caps]
        self._begin = self._time = self._level = zero
        self._restart()

    def _restart(self) -> None:
        self._time = self._level = self._held = self._zero
        self._full = 0  # number of smallest caps that are served in full, and what they hold
        self._sharing = self._present = 0  # number of jobs that share the rest, and of all
        self._by_time: list[tuple[Any, int, int]] = []  # next to finish of each cap: when, rank, version
        self._by_level: list[tuple[Any, int, int]] = []

    def arrive(self, job: int, work: Any) -> None:
        """Add a job with `work` GPU-seconds that arrives now."""
        place = self._rank[job]
        group = self._groups[place]
        if not group.ends:
            group.base, group.since = self._zero, self._now(place)
        heappush(group.ends, (self._service(place) + work, job))
        self._count(place, 1)
        if group.ends[0][1] == job:
            self._await(place)
        self._rebalance()

    def advance(self, time: Any) -> list[tuple[int, Any]]:
        """Advance to `time`, and return the jobs that finish by then, with their times.

        If `time` is None, advance until all jobs have finished.
        """
        finished: list[tuple[int, Any]] = []
        limit = None if time is None else time - self._begin
        while self._present:
            place, then, level = self._next()
            if limit is not None and then > limit:
                self._level += self._share * (limit - self._time)
                self._time = limit
                break
            self._time, self._level = then, level
            _, job = heappop(self._groups[place].ends)
            finished.append((job, self._begin + then))
            self._count(place, -1)
            self._await(place)
            self._rebalance()
        if not self._present and time is not None:
            self._begin = time
            self._restart()
        return finished

    @property
    def _share(self) -> Any:
        """The number of GPUs that each job gets if it is not limited by its cap."""
        return (self._gpus - self._held) / self._sharing if self._sharing else self._zero

    def _next(self) -> tuple[int, Any, Any]:
        """Return the group of the job that finishes next, and the time and level at which it finishes."""
        for heap in (self._by_time, self._by_level):
            while heap and self._groups[heap[0][1]].version != heap[0][2]:
                heappop(heap)
        time = None
        if self._by_level:
            level, place, _ = self._by_level[0]
            time = max(self._time + (level - self._level) / self._share, self._time)
        if self._by_time and (time is None or self._by_time[0][0] < time):
            time, place, _ = self._by_time[0]
            time = max(time, self._time)
            level = self._level + self._share * (time - self._time)
        return place, time, level

    def _now(self, place: int) -> Any:
        return self._time if place < self._full else self._level

    def _service(self, place: int) -> Any:
        group = self._groups[place]
        if place < self._full:
            return group.base + group.cap * (self._time - group.since)
        return group.base + (self._level - group.since)

    def _count(self, place: int, jobs: int) -> None:
        self._present += jobs
        if place < self._full:
            self._held += self._groups[place].cap * jobs
        else:
            self._sharing += jobs

    def _await(self, place: int) -> None:
        """Record when the next job of a group finishes."""
        group = self._groups[place]
        group.version += 1
        if not group.ends:
            return
        left = group.ends[0][0] - group.base
        if place < self._full:
            heappush(self._by_time, (group.since + left / group.cap, place, group.version))
        else:
            heappush(self._by_level, (group.since + left, place, group.version))

    def _rebalance(self) -> None:
        """Serve a group in full if and only if its cap is at most the equal share of the remaining GPUs."""
        groups = self._groups
        while self._full < len(groups) and (not self._sharing or groups[self._full].cap <= self._share):
            self._change(self._full, self._full + 1)
        while self._full and (
            self._held > self._gpus or (self._sharing and groups[self._full - 1].cap > self._share)
        ):
            self._change(self._full - 1, self._full - 1)

    def _change(self, place: int, full: int) -> None:
        """Switch a group to or from full service, after which `full` groups are served in full."""
        group = self._groups[place]
        group.base = self._service(place) if group.ends else self._zero
        jobs = len(group.ends)
        self._count(place, -jobs)
        self._full = full
        self._count(place, jobs)
        group.since = self._now(place)
        self._await(place)


def finish_time_fairness(
    completion_times: Sequence[Any], fair_times: Sequence[Any], workload: Workload
) -> list[Any]:
    """Return the ratio of each job's completion time to its fair one, both counted from the job's release.

    The ratio is None for a job that does not complete, and 1 if rounding can explain the difference. Source:
    Themis; Ares, section 5.1.
    """
    rows = zip(completion_times, fair_times, workload.jobs, strict=True)
    return [
        None if time is None else _ratio(time, fair, type(fair)(job.release_date)) for time, fair, job in rows
    ]


def _ratio(completion: Any, fair: Any, release: Any) -> Any:
    if isinstance(completion, float) and abs(completion - fair) <= clock_error(completion, fair - release):
        return 1.0
    span = fair - release or ulp(float(release))  # a nanosecond on a clock that does not tell it
    return (completion - release) / span
