"""Counts: GPUs in use and waiting jobs over time, and the distribution of job completion times."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from gsopt.core.drawing import COLUMN, tick_counts, titled
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule
from gsopt.simulation.plots.classes import Colour, classes_of
from gsopt.simulation.plots.runs import JobTime, draw_shares
from gsopt.simulation.plots.spans import capacity_steps, span_of, waits_of
from gsopt.simulation.run import Replay

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def gpus_in_use(
    schedule: Schedule, scenario: Scenario, *, title: str = "", axes: "Axes | None" = None
) -> "Axes":
    """Plot the number of GPUs in use and the capacity over time.

    A GPU that several jobs share is counted once for each of them.

    Parameters
    ----------
    schedule, scenario
        The schedule to plot, and the scenario to which it belongs.
    title
        Title of the chart, such as the name of the policy.
    axes
        The axes to draw on; None for a new figure.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.schedule import Segment
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> schedule = Schedule((Segment("a", 0, 2, 1),))
    >>> gpus_in_use(schedule, Scenario(workload=workload, cluster=Cluster.plain(1))).get_ylabel()
    'GPUs in use'
    """
    axes = titled(axes, "", "GPUs in use", size=(COLUMN, 2.2))
    span = span_of(schedule, scenario)
    times, held = _counted((float(each.start), float(each.end), each.gpus) for each in schedule.segments)
    axes.fill_between(times, held, step="post", color="#0072B2", alpha=0.25, linewidth=0)
    axes.step(times, held, where="post", color="#0072B2", linewidth=1, label="in use")
    steps = capacity_steps(schedule, scenario, span.begin, span.end)
    axes.step(*zip(*steps, strict=True), where="post", color="black", linestyle="--", label="capacity")
    span.set_on(axes)
    axes.set_ylim(bottom=0)
    axes.set_title(title, fontsize="medium")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return axes


def queue(schedule: Schedule, scenario: Scenario, *, title: str = "", axes: "Axes | None" = None) -> "Axes":
    """Plot the number of waiting jobs over time, stacked by the number of GPUs that they demand.

    A job waits from its release, or from when it loses its GPUs, until it gets GPUs. Waits that never end are
    not shown.

    Parameters
    ----------
    schedule, scenario, title, axes
        The same as in `gpus_in_use`.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.schedule import Segment
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> schedule = Schedule((Segment("a", 1, 3, 1),))
    >>> queue(schedule, Scenario(workload=workload, cluster=Cluster.plain(1))).get_ylabel()
    'jobs waiting'
    """
    axes = titled(axes, "", "jobs waiting", size=(COLUMN, 2.2))

    span = span_of(schedule, scenario)
    classes = classes_of(schedule, scenario, Colour.GPUS)
    waits = list(waits_of(schedule, scenario))
    moments = sorted({span.begin, span.end} | {moment for _, start, stop in waits for moment in (start, stop)})
    floor = [0] * len(moments)
    for number in sorted(set(classes.of.values())):
        mine = [(start, stop, 1) for job, start, stop in waits if classes.of[job.name] == number]
        top = [low + count for low, count in zip(floor, _at(moments, mine), strict=True)]
        axes.fill_between(moments, floor, top, step="post", color=classes.colours[number], linewidth=0)
        floor = top
    axes.step(moments, floor, where="post", color="black", linewidth=0.6)
    span.set_on(axes)
    axes.set_ylim(0, max(1.05 * max(floor), 1))
    tick_counts(axes.yaxis)
    axes.set_title(title, fontsize="medium")
    classes.add_legend(axes)
    return axes


def jct_distribution(replays: Sequence[Replay], *, axes: "Axes | None" = None) -> "Axes":
    """Plot the cumulative distribution of job completion times, with one line per run.

    Jobs that did not complete are left out.

    Parameters
    ----------
    replays
        The runs to compare. Up to 28 lines are told apart by colour, line style and marker.
    axes
        The axes to draw on; None for a new figure.

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> from heuristics.policies import fifo
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> len(jct_distribution([simulate(workload, fifo, cluster=1)]).lines)
    1
    """
    axes = titled(axes, "job completion time", "jobs complete", size=(COLUMN, 3))
    labels = [run.metrics.policy for run in replays]
    return draw_shares(axes, "job completion time", labels, [JobTime.JCT.of(run) for run in replays])


def _counted(spans: Iterable[tuple[float, float, int]]) -> tuple[list[float], list[int]]:
    """Return the times at which a count changes, and the count from each of these times on."""
    steps: dict[float, int] = {}
    for start, end, number in spans:
        steps[start] = steps.get(start, 0) + number
        steps[end] = steps.get(end, 0) - number
    times = sorted(steps)
    return times, list(accumulate(steps[time] for time in times))


def _at(moments: Sequence[float], spans: Sequence[tuple[float, float, int]]) -> list[int]:
    """Return a count at each of the given moments, which must include all times at which it changes."""
    times, counts = _counted(spans)
    known = dict(zip(times, counts, strict=True))
    return list(accumulate(moments, lambda held, moment: known.get(moment, held), initial=0))[1:]
