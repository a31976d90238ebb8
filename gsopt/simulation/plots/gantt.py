"""Gantt chart: the jobs on each GPU over time."""

from collections.abc import Sequence
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Any

from gsopt.core.drawing import COLUMN, tick_counts, titled
from gsopt.scenario.scenario import Scenario
from gsopt.schedule import Schedule, Segment
from gsopt.simulation.plots.classes import Classes, classes_of
from gsopt.simulation.plots.spans import FEW_JOBS, capacity_steps, span_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_FRAMES = 300  # blocks of a framed chart
_MOST_VECTORS = 3000  # blocks that a vector picture keeps as such
_FRAMED_HEIGHT = 0.9

#: A segment with a block of neighbouring rows, given by the first row and the row after the last one.
_Block = tuple[Segment, int, int]


def gantt(
    schedule: Schedule,
    scenario: Scenario,
    *,
    colour: str = "slowdown",
    title: str = "",
    axes: "Axes | None" = None,
) -> "Axes":
    """Plot the jobs on each GPU over time, and the capacity as a line; GPUs without jobs are white.

    With the default colours, jobs that were slowed down most are dark, so a light job that ran before a dark
    one may have overtaken it. If there are at most 40 jobs, they are framed and labelled, unless the chart
    consists of more than 300 rectangles. If GPUs have no indices, each segment occupies the lowest rows that
    are free when it starts, and its rows are chosen again whenever the capacity changes.

    Parameters
    ----------
    schedule, scenario
        The schedule to plot, and the scenario to which it belongs.
    colour
        What the colours of jobs mean: ``slowdown`` (completion time, from release, divided by duration),
        ``waiting`` (seconds without GPUs since the release), ``gpus`` (number of demanded GPUs) or ``job``
        (the job itself, in seven colours that repeat; for at most 40 jobs).
    title
        Title of the chart, such as the name of the policy.
    axes
        The axes to draw on; None for a new figure.

    Raises
    ------
    InvalidInput
        `colour` is unknown, `colour` is ``job`` and there are too many jobs, or matplotlib is not installed.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Job, Workload
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> scenario = Scenario(workload=workload, cluster=Cluster.plain(1))
    >>> gantt(Schedule((Segment("a", 0, 2, 1),)), scenario, title="fifo").get_ylabel()
    'GPU'
    """
    axes = titled(axes, "", "GPU", size=(COLUMN, 3))
    from matplotlib.lines import Line2D

    classes = classes_of(schedule, scenario, colour)
    blocks = [block for segment, rows in _rows(schedule, scenario) for block in _blocks(segment, rows)]
    framed = len(scenario.workload.jobs) <= FEW_JOBS and len(blocks) <= _MOST_FRAMES
    _draw_blocks(axes, classes, blocks, framed=framed)
    if framed:
        _draw_labels(axes, blocks)
    span = span_of(schedule, scenario)
    steps = capacity_steps(schedule, scenario, span.begin, span.end)
    axes.step(*zip(*steps, strict=True), where="post", color="black", linewidth=1.5, linestyle="--")
    span.set_on(axes)
    axes.set_ylim(0, scenario.cluster.gpus * 1.02)
    tick_counts(axes.yaxis)
    axes.set_title(title, fontsize="medium")
    classes.add_legend(axes, [Line2D([], [], color="black", linestyle="--", label="capacity")])
    return axes


def _draw_blocks(axes: "Axes", classes: Classes, blocks: Sequence[_Block], *, framed: bool) -> None:
    """Draw the blocks, all blocks of the same class at once.

    Without `framed`, blocks have neither frames nor smooth edges, which would cover blocks of only a few
    pixels.
    """
    from matplotlib.collections import PolyCollection

    groups: dict[int, list[Any]] = {}
    for segment, low, high in blocks:
        top = high - 1 + _FRAMED_HEIGHT if framed else high
        groups.setdefault(classes.of.get(segment.job, 0), []).append(_corners(segment, low, top))
    look: dict[str, Any] = (
        {"edgecolors": "black", "linewidths": 0.6} if framed else {"edgecolors": "none", "antialiaseds": False}
    )
    for number, group in sorted(groups.items()):
        drawn = PolyCollection(group, facecolors=classes.colours[number], **look)
        drawn.set_rasterized(len(blocks) > _MOST_VECTORS)
        axes.add_collection(drawn)


def _corners(segment: Segment, low: float, high: float) -> list[tuple[float, float]]:
    start, end = float(segment.start), float(segment.end)
    return [(start, low), (end, low), (end, high), (start, high)]


def _draw_labels(axes: "Axes", blocks: Sequence[_Block]) -> None:
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.8}
    for segment, low, high in blocks:
        middle = float(segment.start + segment.end) / 2, (low + high - 1 + _FRAMED_HEIGHT) / 2
        axes.text(
            *middle,
            segment.job,
            ha="center",
            va="center",
            fontsize="medium",
            bbox=box,
            clip_on=True,
            parse_math=False,
        )


def _blocks(segment: Segment, rows: Sequence[int]) -> list[_Block]:
    """Combine neighbouring rows of a segment into blocks."""
    ordered = sorted(rows)
    cuts = [0, *(place for place in range(1, len(ordered)) if ordered[place] != ordered[place - 1] + 1)]
    return [
        (segment, ordered[first], ordered[last - 1] + 1)
        for first, last in pairwise([*cuts, len(ordered)])
        if last > first
    ]


def _rows(schedule: Schedule, scenario: Scenario) -> list[tuple[Segment, Sequence[int]]]:
    """Return the rows of each segment: those of its placement, or the lowest rows free at its start."""
    free_from: list[Any] = [float("-inf")] * scenario.cluster.gpus
    placed: list[tuple[Segment, Sequence[int]]] = []
    times = [time for time, _ in capacity_steps(schedule, scenario, -inf, inf)]
    pieces = [piece for segment in schedule.segments for piece in _cut(segment, times)]
    for segment in sorted(pieces, key=lambda segment: (segment.start, segment.job)):
        free = [row for row in range(len(free_from)) if free_from[row] <= segment.start]
        rows = segment.placement or tuple(free[: segment.gpus])
        for row in rows:
            free_from[row] = segment.end
        placed.append((segment, rows))
    return placed


def _cut(segment: Segment, times: Sequence[float]) -> list[Segment]:
    """Cut a segment at the given times within it, unless its GPUs have indices."""
    inner = [time for time in times if segment.start < time < segment.end and not segment.placement]
    ends = [segment.start, *inner, segment.end]
    return [segment._replace(start=start, end=end) for start, end in pairwise(ends)]
