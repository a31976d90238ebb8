"""Plots of schedules and runs; they read without colour. matplotlib is imported when one is drawn."""

from collections.abc import Sequence
from itertools import accumulate, cycle, pairwise
from typing import TYPE_CHECKING, Any

from gsopt.errors import InvalidInput
from gsopt.scenario import Scenario
from gsopt.schedule import Schedule, Segment
from gsopt.simulation.run import Replay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HATCHES = ("", "//", "..", "xx", "\\\\", "++", "--", "oo")
_SHADES = ("0.35", "0.8", "0.55", "0.9", "0.45", "0.7")
_MOST_LABELS = 40  # jobs of a framed Gantt chart
_MOST_FRAMES = 300  # its bars
_LINES = ("-", "--", ":", "-.")
_MARKERS = ("", "o", "s", "^", "x", "D")
_MARKS_PER_LINE = 8

_Placed = Sequence[tuple[Segment, Sequence[int]]]


def gantt(schedule: Schedule, scenario: Scenario, *, axes: "Axes | None" = None) -> "Axes":
    """Draw what ran when, GPU by GPU, with the capacity as a line.

    Few jobs are framed, hatched and labelled; in larger schedules they are shades of grey, and only idle GPUs
    are white. Where GPUs have no numbers, each segment takes the lowest rows that are free when it starts or
    the capacity changes.

    Parameters
    ----------
    schedule, scenario
        What ran, and what was given.
    axes
        Where to draw; on a new figure when None.

    Examples
    --------
    >>> from gsopt.cluster import Cluster
    >>> from gsopt.job import Job, Workload
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> scenario = Scenario(workload=workload, cluster=Cluster.plain(1))
    >>> gantt(Schedule((Segment("a", 0, 2, 1),)), scenario).get_ylabel()
    'GPU'
    """
    axes = _axes(axes, "time [s]", "GPU")
    from matplotlib.ticker import MaxNLocator

    placed = _rows(schedule, scenario)
    jobs = {segment.job for segment in schedule.segments}
    framed = len(jobs) <= _MOST_LABELS and sum(len(rows) for _, rows in placed) <= _MOST_FRAMES
    _draw_bars(axes, scenario, placed, framed=framed)
    if framed:
        _draw_labels(axes, placed)
    end = float(max((segment.end for segment in schedule.segments), default=1))
    times, capacity = _capacity(scenario, end)
    axes.step(times, capacity, where="post", color="black", linewidth=1.5, linestyle="--", label="capacity")
    axes.set_xlim(0, end)
    axes.set_ylim(0, scenario.cluster.gpus * 1.02)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(loc="upper right", fontsize=8)
    return axes


def gpus_in_use(schedule: Schedule, scenario: Scenario, *, axes: "Axes | None" = None) -> "Axes":
    """Draw the number of GPUs held over time below the capacity; a shared GPU counts for each of its jobs.

    Parameters
    ----------
    schedule, scenario
        What ran, and what was given.
    axes
        Where to draw; on a new figure when None.

    Examples
    --------
    >>> from gsopt.cluster import Cluster
    >>> from gsopt.job import Job, Workload
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> schedule = Schedule((Segment("a", 0, 2, 1),))
    >>> gpus_in_use(schedule, Scenario(workload=workload, cluster=Cluster.plain(1))).get_ylabel()
    'GPUs in use'
    """
    steps: dict[float, int] = {}
    for segment in schedule.segments:
        steps[float(segment.start)] = steps.get(float(segment.start), 0) + segment.gpus
        steps[float(segment.end)] = steps.get(float(segment.end), 0) - segment.gpus
    axes = _axes(axes, "time [s]", "GPUs in use")
    times = sorted(steps)
    axes.step(times, list(accumulate(steps[time] for time in times)), where="post", color="black")
    limits, capacity = _capacity(scenario, times[-1] if times else 1.0)
    axes.step(limits, capacity, where="post", color="black", linestyle="--", label="capacity")
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower right", fontsize=8)
    return axes


def jct_distribution(replays: Sequence[Replay], *, axes: "Axes | None" = None) -> "Axes":
    """Draw the share of jobs complete within a time after their release, one line per run.

    Parameters
    ----------
    replays
        The runs; each has its own pair of line style and marker.
    axes
        Where to draw; on a new figure when None.

    Examples
    --------
    >>> from gsopt.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> from heuristics.policies import fifo
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> len(jct_distribution([simulate(workload, fifo, cluster=1)]).lines)
    1
    """
    axes = _axes(axes, "job completion time [s]", "share of jobs")
    styles = cycle((line, marker) for marker in _MARKERS for line in _LINES)
    for run, (line, marker) in zip(replays, styles, strict=False):
        times = sorted(map(float, run.jct))
        axes.step(
            times,
            [(index + 1) / len(times) for index in range(len(times))],
            where="post",
            linestyle=line,
            marker=marker,
            markevery=max(1, len(times) // _MARKS_PER_LINE),
            fillstyle="none",
            label=run.metrics.policy,
        )
    axes.set_xscale("log")
    axes.set_ylim(0, 1)
    axes.legend(loc="lower right", fontsize=8)
    return axes


def _draw_bars(axes: "Axes", scenario: Scenario, placed: _Placed, *, framed: bool) -> None:
    """Draw a bar per segment and GPU, all bars of one look at once."""
    from matplotlib.collections import PolyCollection

    looks = _HATCHES if framed else _SHADES
    look_of = dict(zip((job.name for job in scenario.workload.jobs), cycle(looks), strict=False))
    height = 0.9 if framed else 1.0
    bars: dict[str, list[Any]] = {look: [] for look in looks}
    for segment, rows in placed:
        bars[look_of.get(segment.job, looks[0])] += [_bar(segment, row, height) for row in rows]
    for look, group in bars.items():
        if framed:
            drawn = PolyCollection(group, facecolors="white", edgecolors="black", linewidths=0.6, hatch=look)
        else:  # frames and smooth edges would cover bars of few pixels
            drawn = PolyCollection(group, facecolors=look, edgecolors="none", antialiaseds=False)
        axes.add_collection(drawn)


def _bar(segment: Segment, row: int, height: float) -> list[tuple[float, float]]:
    start, end = float(segment.start), float(segment.end)
    return [(start, row), (end, row), (end, row + height), (start, row + height)]


def _draw_labels(axes: "Axes", placed: _Placed) -> None:
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    for segment, rows in placed:
        if rows:
            middle = float(segment.start + segment.end) / 2, rows[len(rows) // 2] + 0.45
            axes.text(*middle, segment.job, ha="center", va="center", fontsize=7, bbox=box, clip_on=True)


def _rows(schedule: Schedule, scenario: Scenario) -> list[tuple[Segment, Sequence[int]]]:
    """Give the rows of each segment: its placement, or rows that are free at its start."""
    free_from: list[Any] = [float("-inf")] * scenario.cluster.gpus
    placed: list[tuple[Segment, Sequence[int]]] = []
    times = [change.time for change in scenario.capacity_changes]
    pieces = [piece for segment in schedule.segments for piece in _cut(segment, times)]
    for segment in sorted(pieces, key=lambda segment: (segment.start, segment.job)):
        free = [row for row in range(len(free_from)) if free_from[row] <= segment.start]
        rows = segment.placement or tuple(free[: segment.gpus])
        for row in rows:
            free_from[row] = segment.end
        placed.append((segment, rows))
    return placed


def _cut(segment: Segment, times: Sequence[float]) -> list[Segment]:
    """Cut a segment whose GPUs have no numbers at times within it."""
    inner = [time for time in times if segment.start < time < segment.end and not segment.placement]
    ends = [segment.start, *inner, segment.end]
    return [segment._replace(start=start, end=end) for start, end in pairwise(ends)]


def _capacity(scenario: Scenario, end: float) -> tuple[list[float], list[int]]:
    times, gpus = [0.0], [scenario.cluster.gpus]
    for change in scenario.capacity_changes:
        times.append(change.time)
        gpus.append(change.gpus)
    return [*times, max(end, times[-1])], [*gpus, gpus[-1]]


def _axes(given: "Axes | None", horizontal: str, vertical: str) -> "Axes":
    try:
        from matplotlib.figure import Figure
    except ImportError:
        rule = "needs matplotlib; install gsopt[report]"
        raise InvalidInput("plot", "", "", rule) from None
    axes = given or Figure(figsize=(8, 4), layout="constrained").subplots()
    axes.set_xlabel(horizontal)
    axes.set_ylabel(vertical)
    return axes
