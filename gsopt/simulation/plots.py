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
_MOST_LABELS = 40
_LINES = ("-", "--", ":", "-.")


def gantt(schedule: Schedule, scenario: Scenario) -> "Axes":
    """Draw what ran when, GPU by GPU, with the capacity as a line.

    Where GPUs have no numbers, each segment takes the lowest rows that are free when it starts or the
    capacity changes.

    Examples
    --------
    >>> from gsopt.cluster import Cluster
    >>> from gsopt.job import Job, Workload
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> scenario = Scenario(workload=workload, cluster=Cluster.plain(1))
    >>> gantt(Schedule((Segment("a", 0, 2, 1),)), scenario).get_ylabel()
    'GPU'
    """
    axes = _axes("time [s]", "GPU")
    hatch = dict(zip((job.name for job in scenario.workload.jobs), cycle(_HATCHES), strict=False))
    label_all = len({segment.job for segment in schedule.segments}) <= _MOST_LABELS
    for segment, rows in _rows(schedule, scenario):
        start, length = float(segment.start), float(segment.end - segment.start)
        for row in rows:
            axes.broken_barh(
                [(start, length)],
                (row, 0.9),
                facecolor="white",
                edgecolor="black",
                linewidth=0.6,
                hatch=hatch.get(segment.job, ""),
            )
        if label_all and rows:
            box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
            middle = rows[len(rows) // 2] + 0.45
            axes.text(start + length / 2, middle, segment.job, ha="center", va="center", fontsize=7, bbox=box)
    times, capacity = _capacity(scenario, float(max((s.end for s in schedule.segments), default=1)))
    axes.step(times, capacity, where="post", color="black", linewidth=1.5, linestyle="--", label="capacity")
    axes.set_ylim(0, scenario.cluster.gpus + 0.5)
    axes.legend(loc="upper right", fontsize=8)
    return axes


def gpus_in_use(schedule: Schedule, scenario: Scenario) -> "Axes":
    """Draw the number of GPUs held over time below the capacity; a shared GPU counts for each of its jobs.

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
    axes = _axes("time [s]", "GPUs in use")
    times = sorted(steps)
    axes.step(times, list(accumulate(steps[time] for time in times)), where="post", color="black")
    limits, capacity = _capacity(scenario, times[-1] if times else 1.0)
    axes.step(limits, capacity, where="post", color="black", linestyle="--", label="capacity")
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower right", fontsize=8)
    return axes


def jct_distribution(replays: Sequence[Replay]) -> "Axes":
    """Draw the share of jobs complete within a time after their release, one line per run.

    Examples
    --------
    >>> from gsopt.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> from heuristics.policies import fifo
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> len(jct_distribution([simulate(workload, fifo, cluster=1)]).lines)
    1
    """
    axes = _axes("job completion time [s]", "share of jobs")
    for run, line in zip(replays, cycle(_LINES), strict=False):
        times = sorted(map(float, run.jct))
        shares = [(index + 1) / len(times) for index in range(len(times))]
        axes.step(times, shares, where="post", linestyle=line, label=run.metrics.policy)
    axes.set_xscale("log")
    axes.set_ylim(0, 1)
    axes.legend(loc="lower right", fontsize=8)
    return axes


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


def _axes(horizontal: str, vertical: str) -> "Axes":
    try:
        from matplotlib.figure import Figure
    except ImportError:
        rule = "needs matplotlib; install gsopt[report]"
        raise InvalidInput("plot", "", "", rule) from None
    axes = Figure(figsize=(8, 4), layout="constrained").subplots()
    axes.set_xlabel(horizontal)
    axes.set_ylabel(vertical)
    return axes
