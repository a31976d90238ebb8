"""Spans: the time span that charts of a schedule show, the capacity over time, and when jobs wait."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from gsopt.core.drawing import set_time_axis, time_unit
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule
from gsopt.schedule.presence import Presence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Maximum number of jobs for which a chart names each job.
FEW_JOBS = 40

_BEYOND = 1.25  # times the time until the last job is released and has waited for the last time


class ShownSpan(NamedTuple):
    """The time span that charts of a schedule show."""

    begin: float  # the first release date, or 0 if that is close
    visible_until: float
    end: float  # of the last segment

    def set_on(self, axes: "Axes") -> None:
        """Limit a plot's time axis to this span; if the last job ends later, state when in the axis label."""
        set_time_axis(axes, self.begin, self.visible_until)
        if self.visible_until < self.end:
            unit, name = time_unit(self.visible_until - self.begin)
            later = (self.end - self.begin) / unit
            axes.set_xlabel(f"{axes.get_xlabel()}; the last job ends at {later:.3g} {name}")


def span_of(schedule: Schedule, scenario: Scenario) -> ShownSpan:
    """Return the time span that charts show.

    With more than 40 jobs, the final period, in which no job is released or waits, is cut to at most a
    quarter of the length of the period before it.
    """
    releases = [float(job.release_date) for job in scenario.workload.jobs]
    first = min([*releases, *(float(segment.start) for segment in schedule.segments)], default=0.0)
    end = max((float(segment.end) for segment in schedule.segments), default=first + 1)
    begin = 0.0 if 0 <= first < end - first else first
    if len(releases) <= FEW_JOBS:
        return ShownSpan(begin, end, end)
    busy = max([*releases, *(stop for _, _, stop in waits_of(schedule, scenario))])
    return ShownSpan(begin, min(end, begin + _BEYOND * (busy - begin)) if busy > begin else end, end)


def capacity_steps(schedule: Schedule, scenario: Scenario, begin: float, end: float) -> list[tuple[float, int]]:
    """Return the times at which the number of available GPUs changes, each with the number from then on.

    The first entry is at `begin`. The last entry repeats the final number, at `end` or, if later, at the last
    change.
    """
    steps = [(begin, scenario.cluster.gpus)]
    for step in Presence(scenario, schedule.vacated, float).steps:
        time = max(step.time, begin)
        if time == steps[-1][0]:
            steps.pop()
        if not steps or step.gpus != steps[-1][1]:
            steps.append((time, step.gpus))
    return [*steps, (max(end, steps[-1][0]), steps[-1][1])]


def waits_of(schedule: Schedule, scenario: Scenario) -> Iterator[tuple[Job, float, float]]:
    """Yield every interval in which a released job holds no GPUs but gets some later."""
    runs: dict[str, list[tuple[float, float]]] = {}
    for segment in schedule.segments:
        runs.setdefault(segment.job, []).append((float(segment.start), float(segment.end)))
    for job in scenario.workload.jobs:
        since = float(job.release_date)
        for start, end in sorted(runs.get(job.name, ())):
            if start > since:
                yield job, since, start
            since = max(since, end)
