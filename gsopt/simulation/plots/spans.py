"""Spans: what pictures of a schedule share of its time: its limits, the capacity, and when each job waited."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from gsopt.core.drawing import set_time_axis, time_unit
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.events import Event, Leave, Loan, Reclaim, Return
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Jobs of a small picture, which can name them all.
FEW_JOBS = 40

_BEYOND = 1.25  # times the time until the last job is released and has waited for the last time


class Span(NamedTuple):
    """The time that pictures of a schedule show."""

    begin: float  # the first release date; 0 where the clock begins near it
    shown: float  # until when they show
    end: float  # the last end

    def set_on(self, axes: "Axes") -> None:
        """Let a plot show it, and say so where something ends later."""
        set_time_axis(axes, self.begin, self.shown)
        if self.shown < self.end:
            unit, name = time_unit(self.shown - self.begin)
            later = (self.end - self.begin) / unit
            axes.set_xlabel(f"{axes.get_xlabel()}; the last job ends at {later:.3g} {name}")


def span_of(schedule: Schedule, scenario: Scenario) -> Span:
    """Return the time that pictures show: with many jobs not the long end in which none waits any more."""
    releases = [float(job.release_date) for job in scenario.workload.jobs]
    first = min([*releases, *(float(segment.start) for segment in schedule.segments)], default=0.0)
    end = max((float(segment.end) for segment in schedule.segments), default=first + 1)
    begin = 0.0 if 0 <= first < end - first else first
    if len(releases) <= FEW_JOBS:
        return Span(begin, end, end)
    busy = max([*releases, *(stop for _, _, stop in waits_of(schedule, scenario))])
    return Span(begin, min(end, begin + _BEYOND * (busy - begin)) if busy > begin else end, end)


def capacity_steps(schedule: Schedule, scenario: Scenario, begin: float, end: float) -> list[tuple[float, int]]:
    """Return the times at which the number of GPUs may change, with the number from then on, up to an end."""
    moments = sorted({begin, *change_times(schedule, scenario)})
    steps = [(moment, _gpus_there(schedule, scenario, moment)) for moment in moments]
    return [*steps, (max(end, moments[-1]), steps[-1][1])]


def change_times(schedule: Schedule, scenario: Scenario) -> list[float]:
    """Return the times at which GPUs may come or go."""
    return [
        *(change.time for change in scenario.capacity_changes),
        *(event.deadline if isinstance(event, Reclaim) else event.time for event in scenario.events),
        *(float(vacated.time) for vacated in schedule.vacated),
    ]


def _gpus_there(schedule: Schedule, scenario: Scenario, moment: float) -> int:
    cluster = scenario.cluster
    limits = [change.gpus for change in scenario.capacity_changes if change.time <= moment]
    limit = min(limits[-1] if limits else cluster.gpus, cluster.gpus)
    past = [event for event in scenario.events if event.time <= moment]
    if cluster.is_plain:
        given_up = sum(each.gpus or 0 for each in past if isinstance(each, Reclaim) and each.deadline <= moment)
        come_back = sum(each.gpus or 0 for each in past if isinstance(each, Return))
        return max(limit - given_up + come_back, 0)
    vacated = [each for each in schedule.vacated if each.time <= moment]
    goings: list[tuple[float, int, Event]] = [(each.time, 0, each) for each in past]
    goings += [(float(t), 1, Leave(time=float(t), servers=[name])) for t, name in vacated]
    away = _away(cluster, [event for *_, event in sorted(goings, key=lambda going: going[:2])])
    gone = {gpu for server in away for gpu in cluster.gpus_of[server]}
    return sum(gpu not in gone for gpu in range(limit))


def _away(cluster: Cluster, events: Iterable[Event]) -> set[str]:
    """Return the machines that are away after what happened; what is given up leaves."""
    away: set[str] = set()
    for event in events:
        if isinstance(event, Leave):
            away.update(event.servers)
        elif isinstance(event, Return):
            away.difference_update(event.servers)
        elif isinstance(event, Loan):
            may = (m.name for m in cluster.machines if m.name in away and event.takes(m.name, m.gpu_type))
            away.difference_update(list(islice(may, event.servers)))
    return away


def waits_of(schedule: Schedule, scenario: Scenario) -> Iterator[tuple[Job, float, float]]:
    """Yield every span in which a job is released, has no GPUs, and will have some later."""
    runs: dict[str, list[tuple[float, float]]] = {}
    for segment in schedule.segments:
        runs.setdefault(segment.job, []).append((float(segment.start), float(segment.end)))
    for job in scenario.workload.jobs:
        since = float(job.release_date)
        for start, end in sorted(runs.get(job.name, ())):
            if start > since:
                yield job, since, start
            since = max(since, end)
