"""Runs: charts that compare the job times, remaining jobs and GPU use of several runs."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from gsopt.core.drawing import (
    COLOURS,
    COLUMN,
    legend_beside,
    looks,
    name_twins,
    set_log_time_axis,
    set_time_axis,
    tick_counts,
    tick_shares,
    titled,
)
from gsopt.core.errors import InvalidInput, shorten
from gsopt.simulation.run import Replay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKS_PER_LINE = 8

#: Number of seconds below which a logarithmic axis is linear, because many jobs do not queue at all.
_LINEAR = 1.0

#: Number of seconds at which such an axis begins, so that values at zero can be seen.
_BELOW_ZERO = -0.3


#: Number of intervals in which the share of GPUs in use is averaged, so that lines can be told apart.
_CELLS = 60


class JobTime(StrEnum):
    """A time that can be plotted for each job: completion time (from its release), execution or queueing time.

    Examples
    --------
    >>> [each.value for each in JobTime]
    ['job completion time', 'execution time', 'queueing time']
    """

    JCT = "job completion time"
    EXECUTION = "execution time"
    QUEUEING = "queueing time"

    def of(self, run: Replay) -> list[float]:
        """Return this time of every completed job, in seconds; a job queues while it holds no GPUs."""
        times, queueing = [float(each) for each in run.jct], [float(each) for each in run.metrics.queueing]
        if self is JobTime.JCT:
            return times
        if self is JobTime.QUEUEING:
            return queueing
        return [time - waited for time, waited in zip(times, queueing, strict=True)]


def boxes(
    runs: Mapping[str, Replay], part: JobTime | str = JobTime.JCT, *, axes: "Axes | None" = None
) -> "Axes":
    """Plot a box for each run's job times: median, quartiles, 5th and 95th percentiles, and mean as a dot.

    Source: ONES, Figure 15 d to f.

    Parameters
    ----------
    runs
        The runs to compare, keyed by label.
    part
        The time to plot, as a `JobTime` or its value.
    axes
        The axes to draw on; None for a new figure.

    Raises
    ------
    InvalidInput
        `part` is neither a `JobTime` nor the value of one.

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> from heuristics.policies import fifo
    >>> workload = Workload(jobs=[Job(name=n, release_date=0, duration=2, gpus=1) for n in "ab"])
    >>> axes = boxes({"in order": simulate(workload, fifo, cluster=1)}, "queueing time")
    >>> [text.get_text() for text in axes.get_xticklabels()]
    ['in order']
    """
    part = _part(part)
    axes = titled(axes, "", part, size=(max(COLUMN, 0.7 * len(runs) + 1), 3))
    if not runs:
        return axes
    found = [part.of(run) for run in runs.values()]
    drawn = axes.boxplot(
        found,
        whis=(5, 95),
        showfliers=False,
        showmeans=True,
        patch_artist=True,
        widths=0.6,
        medianprops={"color": "black"},
        meanprops={"marker": "o", "markerfacecolor": "white", "markeredgecolor": "black", "markersize": 5},
    )
    for place, box in enumerate(drawn["boxes"]):
        box.set_facecolor(COLOURS[place % len(COLOURS)])
        box.set_alpha(0.6)
    axes.set_xticks(range(1, len(runs) + 1), list(runs), rotation=20, ha="right", rotation_mode="anchor")
    least, most = _limits(found)
    axes.set_yscale(**_scale(least))
    if least < _LINEAR:
        axes.set_ylim(bottom=_BELOW_ZERO)
    if unit := set_log_time_axis(axes.yaxis, least, most):
        axes.set_ylabel(f"{part} [{unit}]")
    axes.grid(alpha=0.3, axis="y")
    return axes


def shares(
    runs: Mapping[str, Replay], part: JobTime | str = JobTime.JCT, *, axes: "Axes | None" = None
) -> "Axes":
    """Plot the cumulative distribution of a `JobTime` over all completed jobs, with one line per run.

    Source: ONES, Figure 15 g to i.

    Parameters
    ----------
    runs, part, axes
        The same as in `boxes`. Up to 28 lines are told apart by colour, line style and marker.

    Raises
    ------
    InvalidInput
        `part` is neither a `JobTime` nor the value of one.

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> from heuristics.policies import fifo
    >>> workload = Workload(jobs=[Job(name=n, release_date=0, duration=2, gpus=1) for n in "ab"])
    >>> axes = shares({"in order": simulate(workload, fifo, cluster=1)}, "queueing time")
    >>> [float(time) for time in axes.lines[0].get_xdata()]
    [0.0, 2.0]
    """
    part = _part(part)
    axes = titled(axes, part, "jobs", size=(COLUMN, 3))
    return draw_shares(axes, part, list(runs), [part.of(run) for run in runs.values()])


def draw_shares(axes: "Axes", name: str, labels: Sequence[str], found: Sequence[Sequence[float]]) -> "Axes":
    """Plot the cumulative distribution of each list of times in seconds, as one line per list."""
    shares_at = [[(index + 1) / len(values) for index in range(len(values))] for values in found]
    _draw_lines(axes, labels, list(zip(map(sorted, found), shares_at, strict=True)), drawstyle="steps-post")
    least, most = _limits(found)
    axes.set_xscale(**_scale(least))
    if least < _LINEAR:
        axes.set_xlim(left=_BELOW_ZERO)
    if unit := set_log_time_axis(axes.xaxis, least, most):
        axes.set_xlabel(f"{name} [{unit}]")
    axes.set_ylim(0, 1.02)
    tick_shares(axes.yaxis)
    axes.grid(alpha=0.3)
    if labels:
        legend_beside(axes)
    return axes


def _part(given: str) -> JobTime:
    if given not in list(JobTime):
        raise InvalidInput("part", shorten(given), f"must be one of {', '.join(JobTime)}")
    return JobTime(given)


def _limits(found: Sequence[Sequence[float]]) -> tuple[float, float]:
    values = [value for each in found for value in each]
    least = min(values, default=float("inf"))
    return least if least >= _LINEAR else 0.0, max(values, default=0.0)


def _scale(least: float) -> dict[str, Any]:
    """Return the parameters of a logarithmic scale, which is linear near zero if any values are there."""
    return {"value": "log"} if least >= _LINEAR else {"value": "symlog", "linthresh": _LINEAR}


def jobs_remaining(runs: Mapping[str, Replay], *, axes: "Axes | None" = None) -> "Axes":
    """Plot over time how many released jobs are not complete yet, with one line per run.

    Source: Dally, Figure 12.

    Parameters
    ----------
    runs
        The runs to compare, keyed by label. Up to 28 lines are told apart by colour, line style and marker.
    axes
        The axes to draw on; None for a new figure.

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> from heuristics.policies import fifo
    >>> workload = Workload(jobs=[Job(name=n, release_date=0, duration=2, gpus=1) for n in "ab"])
    >>> axes = jobs_remaining({"in order": simulate(workload, fifo, cluster=1)})
    >>> [float(count) for count in axes.lines[0].get_ydata()]
    [2.0, 1.0, 0.0]
    """
    axes = titled(axes, "", "jobs remaining", size=(COLUMN, 3))
    begin, end = _time_limits(runs)
    lines = []
    for run in runs.values():
        changes = [(float(job.release_date), 1) for job in run.scenario.workload.jobs]
        changes += [(float(time), -1) for time in run.completion_times if time is not None]
        steps: dict[float, int] = {}
        for time, change in sorted(changes):
            steps[time] = steps.get(time, 0) + change
        lines.append((list(steps), list(accumulate(steps.values()))))
    _draw_lines(axes, list(runs), lines, drawstyle="steps-post")
    _finish(axes, begin, end)
    tick_counts(axes.yaxis)
    return axes


def utilisation(runs: Mapping[str, Replay], *, axes: "Axes | None" = None) -> "Axes":
    """Plot over time which fraction of the cluster's GPUs is in use, with one line per run.

    Each point is the mean over a sixtieth of the time span shown. A GPU that several jobs share is counted once
    for each of them.

    Source: Dally, Figure 11.

    Parameters
    ----------
    runs
        The recorded runs to compare, keyed by label.
    axes
        The axes to draw on; None for a new figure.

    Raises
    ------
    InvalidInput
        A run was not recorded.

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> from heuristics.policies import fifo
    >>> workload = Workload(jobs=[Job(name="a", release_date=0, duration=2, gpus=1)])
    >>> run = simulate(workload, fifo, cluster=2, record=True)
    >>> {round(float(share), 9) for share in utilisation({"fifo": run}).lines[0].get_ydata()}
    {0.5}
    """
    axes = titled(axes, "", "GPUs in use", size=(COLUMN, 3))
    begin, end = _time_limits(runs)
    width = (end - begin) / _CELLS
    middles = [begin + (cell + 0.5) * width for cell in range(_CELLS)]
    lines = []
    for label, run in runs.items():
        held = [0.0] * _CELLS
        for start, stop, gpus in _held(label, run):
            for cell in range(int((start - begin) / width), _CELLS):
                low, high = begin + cell * width, begin + (cell + 1) * width
                if low >= stop:
                    break
                held[cell] += gpus * max(min(stop, high) - max(start, low), 0.0)
        lines.append((middles, [seconds / (width * run.scenario.cluster.gpus) for seconds in held]))
    _draw_lines(axes, list(runs), lines)
    _finish(axes, begin, end)
    axes.set_ylim(0, 1.02 * max([1.0, *(max(heights) for _, heights in lines)]))
    tick_shares(axes.yaxis)
    return axes


def _time_limits(runs: Mapping[str, Replay]) -> tuple[float, float]:
    """Return the times of the first release and of the last completion in any run."""
    releases = [float(job.release_date) for run in runs.values() for job in run.scenario.workload.jobs]
    ends = [float(time) for run in runs.values() for time in run.completion_times if time is not None]
    begin = min(releases, default=0.0)
    return begin, max([*ends, *releases, begin + 1])


def _held(label: str, run: Replay) -> Iterator[tuple[float, float, int]]:
    if run.schedule is None:
        raise InvalidInput("runs", repr(label), "must be recorded (record=True)")
    for each in run.schedule.segments:
        yield float(each.start), float(each.end), each.gpus


def _draw_lines(axes: "Axes", labels: Sequence[str], lines: Sequence[tuple[Any, Any]], **style: Any) -> None:
    """Draw lines with different colours, styles and markers; the labels say which lines coincide."""
    curves = [(tuple(xs), tuple(ys)) for xs, ys in lines]
    told = name_twins(labels, curves)
    for label, (xs, ys), look in zip(told, lines, looks(len(lines)), strict=True):
        every = max(1, len(xs) // _MARKS_PER_LINE)
        axes.plot(xs, ys, markevery=every, fillstyle="none", label=label, **style, **look._asdict())


def _finish(axes: "Axes", begin: float, end: float) -> None:
    set_time_axis(axes, begin, end)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    if axes.lines:
        legend_beside(axes)
