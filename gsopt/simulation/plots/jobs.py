"""Job chart: when each job waited and when it ran."""

from typing import TYPE_CHECKING, Any

from gsopt.core.drawing import COLUMN, tick_counts, titled
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule
from gsopt.simulation.plots.classes import Colour, classes_of
from gsopt.simulation.plots.spans import span_of, waits_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WAITING = "#C8C8C8"


def jobs(schedule: Schedule, scenario: Scenario, *, title: str = "", axes: "Axes | None" = None) -> "Axes":
    """Plot when each job waited (grey) and when it ran (coloured by the number of GPUs that it demands).

    Rows are in order of release, with later jobs above earlier ones. Where the row of a job is coloured while
    the row of an earlier job below it is grey, the later job has overtaken the earlier one. Waits that never
    end are not shown.

    Parameters
    ----------
    schedule, scenario
        The schedule to plot, and the scenario to which it belongs.
    title, axes
        The same as in `gpus_in_use`.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.schedule import Segment
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> schedule = Schedule((Segment("a", 1, 3, 1),))
    >>> jobs(schedule, Scenario(workload=workload, cluster=Cluster.plain(1))).get_ylabel()
    'job, by release'
    """
    axes = titled(axes, "", "job, by release", size=(COLUMN, 3.5))
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    classes = classes_of(schedule, scenario, Colour.GPUS)
    order = sorted(scenario.workload.jobs, key=lambda job: job.release_date)
    row_of = {job.name: row for row, job in enumerate(order)}
    bars: dict[Any, list[Any]] = {_WAITING: []}
    for job, start, stop in waits_of(schedule, scenario):
        bars[_WAITING].append(_corners(row_of[job.name], start, stop))
    for segment in schedule.segments:
        corners = _corners(row_of[segment.job], float(segment.start), float(segment.end))
        bars.setdefault(classes.colours[classes.of[segment.job]], []).append(corners)
    for colour, corners in bars.items():
        drawn = PolyCollection(corners, facecolors=colour, edgecolors=colour, linewidths=0.3)
        axes.add_collection(drawn)
    span_of(schedule, scenario).set_on(axes)
    axes.set_ylim(0, max(len(order), 1))
    tick_counts(axes.yaxis)
    axes.set_title(title, fontsize="medium")
    classes.add_legend(axes, [Patch(facecolor=_WAITING, label="waiting")])
    return axes


def _corners(row: int, start: float, end: float) -> list[tuple[float, float]]:
    return [(start, row), (end, row), (end, row + 1), (start, row + 1)]
