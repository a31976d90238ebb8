"""Plots: the tuned timer for one tier and one number of GPUs over time."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gsopt.core.drawing import legend_beside, looks, set_time_axis, tick_time, titled
from heuristics.policies.dally.tuner import TunedTimer

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def tuned_timers(
    seen: Mapping[str, Sequence[TunedTimer]], *, tier: str, gpus: int, axes: "Axes | None" = None
) -> "Axes":
    """Plot the timer for one tier and one number of GPUs over time, one line per run.

    Source: Dally, Figure 4.

    Parameters
    ----------
    seen
        The timers that `heuristics.policies.dally` passed to `observe`, keyed by the run's name in the legend.
    tier
        Name of the tier for which jobs wait.
    gpus
        Number of GPUs that these jobs demand.
    axes
        The axes on which to plot, or None for a new figure.
    """
    axes = titled(axes, "", "", size=(9, 4))
    wanted = {
        label: [(float(each.time), each.seconds) for each in timers if (each.tier, each.gpus) == (tier, gpus)]
        for label, timers in seen.items()
    }
    points = [point for timers in wanted.values() for point in timers]
    for (label, timers), look in zip(wanted.items(), looks(len(wanted)), strict=True):
        axes.step(
            [time for time, _ in timers],
            [seconds for _, seconds in timers],
            where="post",
            markevery=max(1, len(timers) // 8),
            fillstyle="none",
            label=label,
            **look._asdict(),
        )
    begin, end = min((time for time, _ in points), default=0.0), max((time for time, _ in points), default=1.0)
    set_time_axis(axes, begin, max(end, begin + 1))
    longest = max((seconds for _, seconds in points), default=0.0)
    axes.set_ylim(0, 1.05 * longest or 1.0)
    unit = tick_time(axes.yaxis, 0.0, longest or 1.0)
    axes.set_ylabel(f"wait for the tier {tier}, {gpus} GPUs [{unit}]")
    axes.grid(alpha=0.3)
    if axes.lines:
        legend_beside(axes)
    return axes
