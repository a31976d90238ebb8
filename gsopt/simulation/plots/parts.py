"""Jobs' seconds of runs beside each other: how long jobs took in all, ran and queued; boxes and shares."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from gsopt.core.drawing import COLOURS, legend_beside, looks, set_log_time_axis, titled
from gsopt.core.errors import InvalidInput, shorten
from gsopt.simulation.run import Replay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKS_PER_LINE = 8

#: Seconds below which a logarithmic axis is linear, as many jobs do not queue at all.
_LINEAR = 1.0

#: Seconds at which such an axis begins, so that what lies at zero is seen.
_BELOW_ZERO = -0.3


class Part(StrEnum):
    """Which seconds of a job.

    Examples
    --------
    >>> [part.value for part in Part]
    ['job completion time', 'execution time', 'queueing time']
    """

    JCT = "job completion time"
    EXECUTION = "execution time"
    QUEUEING = "queueing time"

    def of(self, run: Replay) -> list[float]:
        """Return the seconds of the completed jobs by number; a job queues while it has no GPUs."""
        times, queueing = [float(each) for each in run.jct], [float(each) for each in run.metrics.queueing]
        if self is Part.JCT:
            return times
        if self is Part.QUEUEING:
            return queueing
        return [time - waited for time, waited in zip(times, queueing, strict=True)]


def boxes(runs: Mapping[str, Replay], part: Part | str = Part.JCT, *, axes: "Axes | None" = None) -> "Axes":
    """Draw the median, the quartiles and the 5th and 95th percentile of jobs' seconds, and a dot at the mean.

    Source: the plots of ONES' Figure 15 d to f.

    Parameters
    ----------
    runs
        The runs, by what stands below their boxes.
    part
        Which seconds; its value will do.
    axes
        Where to draw; on a new figure when None.

    Raises
    ------
    InvalidInput
        There is no such part.

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
    axes = titled(axes, "", part, size=(1.2 * len(runs) + 2, 4))
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


def shares(runs: Mapping[str, Replay], part: Part | str = Part.JCT, *, axes: "Axes | None" = None) -> "Axes":
    """Draw the share of the completed jobs with no more than so many seconds, one line per run.

    Source: the plots of ONES' Figure 15 g to i.

    Parameters
    ----------
    runs, part, axes
        As in `boxes`; each run has its own colour, line style and marker.

    Raises
    ------
    InvalidInput
        There is no such part.

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
    axes = titled(axes, part, "jobs", size=(9, 4))
    return draw_shares(axes, part, list(runs), [part.of(run) for run in runs.values()])


def draw_shares(axes: "Axes", name: str, labels: Sequence[str], found: Sequence[Sequence[float]]) -> "Axes":
    """Draw the share of values up to each, one line for each of several lists of seconds."""
    from matplotlib.ticker import PercentFormatter

    for label, values, look in zip(labels, found, looks(len(found)), strict=True):
        axes.step(
            sorted(values),
            [(index + 1) / len(values) for index in range(len(values))],
            where="post",
            markevery=max(1, len(values) // _MARKS_PER_LINE),
            fillstyle="none",
            label=label,
            **look._asdict(),
        )
    least, most = _limits(found)
    axes.set_xscale(**_scale(least))
    if least < _LINEAR:
        axes.set_xlim(left=_BELOW_ZERO)
    if unit := set_log_time_axis(axes.xaxis, least, most):
        axes.set_xlabel(f"{name} [{unit}]")
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.grid(alpha=0.3)
    if labels:
        legend_beside(axes)
    return axes


def _part(given: str) -> Part:
    if given not in list(Part):
        raise InvalidInput("", "part", shorten(given), f"must be one of {', '.join(Part)}")
    return Part(given)


def _limits(found: Sequence[Sequence[float]]) -> tuple[float, float]:
    values = [value for each in found for value in each]
    least = min(values, default=float("inf"))
    return least if least >= _LINEAR else 0.0, max(values, default=0.0)


def _scale(least: float) -> dict[str, Any]:
    """Return a logarithmic scale, which near zero is linear where there are such values."""
    return {"value": "log"} if least >= _LINEAR else {"value": "symlog", "linthresh": _LINEAR}
