"""Loans: what jobs gain from machines on loan, and what it costs to return the machines."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import accumulate
from math import ceil
from statistics import fmean, median
from typing import Any

from gsopt.core.errors import InvalidInput, Unsupported, shorten
from gsopt.scenario.events import Loan, Reclaim
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.figures import percentile
from gsopt.schedule.judge import judge
from gsopt.schedule.presence import Presence
from gsopt.schedule.schedule import Schedule, Segment

#: A time, and the change in a number of GPUs at that time.
Change = tuple[float, int]


@dataclass(frozen=True)
class Times:
    """The mean, median and 95th percentile of some jobs' queueing times and JCTs, in seconds.

    All of them are None if there are no jobs. Job completion times (JCTs) are counted from release.
    """

    jobs: int
    mean_queueing: float | None
    median_queueing: float | None
    p95_queueing: float | None
    mean_jct: float | None
    median_jct: float | None
    p95_jct: float | None

    @classmethod
    def of(cls, pairs: Sequence[tuple[float, float]]) -> "Times":
        """Summarize pairs of queueing time and job completion time, one pair per job."""
        if not pairs:
            return cls(0, None, None, None, None, None, None)
        queueing, jct = zip(*pairs, strict=True)
        return cls(
            len(pairs),
            *(fmean(queueing), median(queueing), percentile(queueing, 95)),
            *(fmean(jct), median(jct), percentile(jct, 95)),
        )


@dataclass(frozen=True)
class Usage:
    """The fractions of GPU time that are in use during a time span, by kind of machine.

    A fraction is None if there are no machines of its kind or, for machines on loan, if none is on loan during
    the span. In `overall`, machines that are not on loan count as in use by their owner.
    """

    begin: float
    end: float
    training: float | None  # of machines that are never lent
    loaned: float | None  # of machines on loan, during their loans
    overall: float  # of all GPUs of both clusters


@dataclass(frozen=True)
class Giving:
    """The cost of giving up machines at a certain time."""

    time: float
    servers: int
    spare: int  # machines on which no job had to stop
    preempted: int  # jobs that had to stop
    collateral: int  # GPUs that these jobs lost on other machines
    gpus: int  # of the machines


class Loans:
    """The use that a schedule makes of machines that a `gsopt.scenario.events.Loan` may bring.

    Scenarios in which jobs may share GPUs raise `Unsupported`. The figures are those of Aryl, section 7:
    Table 5 (usage), Table 7 (jobs on loaned servers), and Figures 7 and 8 (usage of loaned servers, preemptions
    and collateral damage of reclaiming). The paper does not define the denominator of its combined usage. Here,
    machines that are not on loan count as busy with their owner's work, since an inference cluster keeps no
    more machines than it needs, apart from its headroom.
    """

    def __init__(self, schedule: Schedule, scenario: Scenario) -> None:
        events = [event for event in scenario.events if isinstance(event, Loan)]
        if scenario.share_limit > 1:
            raise Unsupported("figures of loans where jobs share GPUs")
        self._schedule, self._scenario = schedule, scenario
        self._lent = {
            machine.name: scenario.cluster.gpus_of[machine.name]
            for machine in scenario.cluster.machines
            if any(event.takes(machine.name, machine.gpu_type) for event in _distinct(events))
        }
        self._is_lent = bytearray(scenario.cluster.gpus)
        for gpus in self._lent.values():
            self._is_lent[gpus.start : gpus.stop] = b"\x01" * len(gpus)

    @property
    def end(self) -> float:
        """The time of the last event or deadline, or of the last release if there are no events."""
        events, jobs = self._scenario.events, self._scenario.workload.jobs
        last = max((job.release_date for job in jobs), default=0.0)
        return max((getattr(event, "deadline", event.time) for event in events), default=last)

    @cached_property
    def jobs(self) -> tuple[str, ...]:
        """Names of the jobs that ran on machines on loan, in workload order."""
        lent = {segment.job for segment in self._schedule.segments if self._on_loan(segment)}
        return tuple(job.name for job in self._scenario.workload.jobs if job.name in lent)

    @cached_property
    def givings(self) -> tuple[Giving, ...]:
        """The costs of giving up machines: one entry for each time at which any are given up, in order."""
        servers: dict[Any, list[str]] = defaultdict(list)
        for time, server in self._schedule.vacated:
            servers[time].append(server)
        stopped: dict[Any, list[Segment]] = defaultdict(list)
        for own in _of_jobs(self._schedule).values():
            for early, late in zip(own, [*own[1:], None], strict=True):
                if early.end in servers and self._stops(early, late):
                    stopped[early.end].append(early)
        return tuple(self._giving(time, names, stopped[time]) for time, names in sorted(servers.items()))

    def _stops(self, early: Segment, late: Segment | None) -> bool:
        """Check whether a job stops at the end of a segment, given its next one, without being complete."""
        return early.job in self._incomplete if late is None else late.start > early.end

    @cached_property
    def _incomplete(self) -> set[str]:
        """Names of the jobs that do not complete."""
        times = judge(self._schedule, self._scenario, complete=False, fairness=False).completion_times
        pairs = zip(self._scenario.workload.jobs, times, strict=True)
        return {job.name for job, time in pairs if time is None}

    def usage(self, until: float | None = None) -> Usage:
        """Return the usage from time 0 to `until` or, if that is None, to `end`."""
        end = self.end if until is None else until
        return self.usages(end, end)[0]

    def usages(self, step: float = 3600.0, until: float | None = None) -> tuple[Usage, ...]:
        """Return the usage in each time step from time 0 to `until` or, if that is None, to `end`.

        A step lasts `step` seconds, by default an hour. The last step may be shorter. Raise `InvalidInput`
        unless `step` is above 0 and at most the end.
        """
        end = self.end if until is None else until
        if not 0 < step <= end:
            raise InvalidInput("step", shorten(step), f"must be more than 0 and at most the end, {end:g} s")
        lent = sum(map(len, self._lent.values()))
        others = self._scenario.cluster.gpus - lent
        found = []
        sums = (
            _binned(each, step, end) for each in (self._held(lent=False), self._held(lent=True), self._there())
        )
        for place, (training, loaned, there) in enumerate(zip(*sums, strict=True)):
            begin, stop = place * step, min((place + 1) * step, end)
            span = stop - begin
            overall = training + loaned + lent * span - there
            shares = _ratio(training, others * span), _ratio(loaned, there)
            found.append(Usage(begin, stop, *shares, overall / ((others + lent) * span)))
        return tuple(found)

    def times(self, names: Iterable[str] | None = None) -> Times:
        """Summarize the queueing times and JCTs of some jobs, by default of those that ran on loaned machines.

        A job is taken to complete at the end of its last segment; jobs that never ran are left out. To compare
        two schedules, pass the names of the jobs that the other schedule ran on loaned machines.
        """
        wanted = set(self.jobs if names is None else names)
        release_date = {job.name: job.release_date for job in self._scenario.workload.jobs}
        return Times.of(
            [
                (
                    own[-1].end - release_date[name] - sum(each.end - each.start for each in own),
                    own[-1].end - release_date[name],
                )
                for name, own in _of_jobs(self._schedule).items()
                if name in wanted
            ]
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain JSON types, for use in a study."""
        usage = self.usage()
        times = asdict(self.times())
        givings = self.givings
        demanded, servers = (sum(getattr(each, name) for each in givings) for name in ("gpus", "servers"))
        preempted = sum(each.preempted for each in givings)
        return {
            "training_usage": usage.training,
            "loaned_usage": usage.loaned,
            "overall_usage": usage.overall,
            **{f"loaned_{name}": value for name, value in times.items()},
            "reclaims": sum(isinstance(event, Reclaim) for event in self._scenario.events),
            "reclaimed_servers": servers,
            "reclaim_preemptions": preempted,
            "preemptions_per_reclaim": _ratio(preempted, len(givings)),
            "collateral": _ratio(sum(each.collateral for each in givings), demanded),
            "spare_servers": _ratio(sum(each.spare for each in givings), servers),
        }

    def _on_loan(self, segment: Segment) -> int:
        """Return how many GPUs of a segment are on loan."""
        return sum(map(self._is_lent.__getitem__, segment.placement))

    def _held(self, *, lent: bool) -> Iterator[Change]:
        """Yield the changes in the number of GPUs in use: of those that may be lent, or of the others."""
        for segment in self._schedule.segments:
            gpus = self._on_loan(segment) if lent else segment.gpus - self._on_loan(segment)
            if gpus:
                yield segment.start, gpus
                yield segment.end, -gpus

    def _there(self) -> Iterator[Change]:
        """Yield the changes in the number of available GPUs that may be lent. At first, all are available."""
        there = dict.fromkeys(self._lent.values(), True)
        yield 0.0, sum(map(len, there))
        for step in Presence(self._scenario, self._schedule.vacated, float).steps:
            now = dict.fromkeys(step.gone, False) | dict.fromkeys(step.back, True)
            for gpus, is_there in now.items():
                if gpus in there and there[gpus] is not is_there:
                    there[gpus] = is_there
                    yield max(step.time, 0.0), len(gpus) if is_there else -len(gpus)

    def _giving(self, time: Any, names: Sequence[str], ended: Sequence[Segment]) -> Giving:
        """Return the cost of giving up machines at a time. The given segments end then, before a pause."""
        gpus_of = self._scenario.cluster.gpus_of
        machine_of = {gpu: name for name in names for gpu in gpus_of[name]}
        stopped = [each for each in ended if any(gpu in machine_of for gpu in each.placement)]
        hit = {machine_of[gpu] for each in stopped for gpu in each.placement if gpu in machine_of}
        return Giving(
            time=float(time),
            servers=len(names),
            spare=len(names) - len(hit),
            preempted=len(stopped),
            collateral=sum(gpu not in machine_of for each in stopped for gpu in each.placement),
            gpus=len(machine_of),
        )


def _distinct(events: Iterable[Loan]) -> list[Loan]:
    """Keep one loan from each set of loans that may bring the same machines."""
    return list({(event.gpu_type, event.among): event for event in events}.values())


def _of_jobs(schedule: Schedule) -> Mapping[str, list[Segment]]:
    """Return the segments of every job in ascending order of start, keyed by the job's name."""
    found: dict[str, list[Segment]] = defaultdict(list)
    for segment in schedule.segments:
        found[segment.job].append(segment)
    for own in found.values():
        own.sort(key=lambda segment: segment.start)
    return found


def _binned(changes: Iterable[Change], step: float, end: float) -> list[float]:
    """Integrate a count over each time step from 0 to `end`, given its changes."""
    number = ceil(end / step)
    partly, wholly = [0.0] * number, [0.0] * (number + 1)
    for time, change in changes:
        if time < end:
            place = min(int(time // step), number - 1)
            partly[place] += change * (min((place + 1) * step, end) - time)
            wholly[place + 1] += change
    lengths = [min((place + 1) * step, end) - place * step for place in range(number)]
    levels = accumulate(wholly[:number])
    return [part + level * length for part, level, length in zip(partly, levels, lengths, strict=True)]


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
