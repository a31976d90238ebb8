"""Runs beside each other over time: the jobs that remain, and the share of the GPUs in use."""

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING

from gsopt.core.drawing import legend_beside, looks, set_time_axis, tick_counts, titled
from gsopt.core.errors import InvalidInput
from gsopt.simulation.run import Replay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKS_PER_LINE = 8

#: Points at which the share of GPUs in use is averaged, so that lines of several runs can be told apart.
_CELLS = 60


def jobs_remaining(runs: Mapping[str, Replay], *, axes: "Axes | None" = None) -> "Axes":
    """Draw how many jobs are released and not complete over time, one line per run.

    Source: the plot of Dally's Figure 12.

    Parameters
    ----------
    runs
        The runs, by what the legend calls them; each has its own colour, line style and marker.
    axes
        Where to draw; on a new figure when None.

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
    axes = titled(axes, "", "jobs remaining", size=(9, 4))
    begin, end = _limits(runs)
    for (label, run), look in zip(runs.items(), looks(len(runs)), strict=True):
        changes = [(float(job.release_date), 1) for job in run.scenario.workload.jobs]
        changes += [(float(time), -1) for time in run.completion_times if time is not None]
        steps: dict[float, int] = {}
        for time, change in sorted(changes):
            steps[time] = steps.get(time, 0) + change
        axes.step(
            list(steps),
            list(accumulate(steps.values())),
            where="post",
            markevery=max(1, len(steps) // _MARKS_PER_LINE),
            fillstyle="none",
            label=label,
            **look._asdict(),
        )
    _finish(axes, begin, end)
    tick_counts(axes.yaxis)
    return axes


def utilisation(runs: Mapping[str, Replay], *, axes: "Axes | None" = None) -> "Axes":
    """Draw the share of the cluster's GPUs that are held over time, one line per run.

    Each point is the mean over a sixtieth of the time that is shown. A shared GPU counts for each of its jobs.
    Source: the plot of Dally's Figure 11.

    Parameters
    ----------
    runs
        The recorded runs, by what the legend calls them.
    axes
        Where to draw; on a new figure when None.

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
    from matplotlib.ticker import PercentFormatter

    axes = titled(axes, "", "GPUs in use", size=(9, 4))
    begin, end = _limits(runs)
    width = (end - begin) / _CELLS
    middles = [begin + (cell + 0.5) * width for cell in range(_CELLS)]
    for (label, run), look in zip(runs.items(), looks(len(runs)), strict=True):
        held = [0.0] * _CELLS
        for start, stop, gpus in _held(label, run):
            for cell in range(int((start - begin) / width), _CELLS):
                low, high = begin + cell * width, begin + (cell + 1) * width
                if low >= stop:
                    break
                held[cell] += gpus * max(min(stop, high) - max(start, low), 0.0)
        shares = [seconds / (width * run.scenario.cluster.gpus) for seconds in held]
        axes.plot(
            middles,
            shares,
            markevery=_CELLS // _MARKS_PER_LINE,
            fillstyle="none",
            label=label,
            **look._asdict(),
        )
    _finish(axes, begin, end)
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    return axes


def _limits(runs: Mapping[str, Replay]) -> tuple[float, float]:
    """Return the time that all runs show together, from the first release to the last completion of any."""
    releases = [float(job.release_date) for run in runs.values() for job in run.scenario.workload.jobs]
    ends = [float(time) for run in runs.values() for time in run.completion_times if time is not None]
    begin = min(releases, default=0.0)
    return begin, max([*ends, *releases, begin + 1])


def _held(label: str, run: Replay) -> Iterator[tuple[float, float, int]]:
    if run.schedule is None:
        raise InvalidInput("", "runs", repr(label), "must be recorded (record=True)")
    for each in run.schedule.segments:
        yield float(each.start), float(each.end), each.gpus


def _finish(axes: "Axes", begin: float, end: float) -> None:
    set_time_axis(axes, begin, end)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    if axes.lines:
        legend_beside(axes)
