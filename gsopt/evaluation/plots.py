"""Plots: plots of gaps and mean completion times that are readable without colour.

matplotlib is imported only when needed.
"""

from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import TYPE_CHECKING, Any

from gsopt.core.drawing import COLOURS, legend_beside, pad_equal, set_log_time_axis, tick_shares, tick_time
from gsopt.evaluation.tables import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Marker shapes, in descending order of size, so that markers of equal gaps are nested.
_SHAPES = "osD^v<>PX*h"
_LARGEST_MARKER, _SMALLER, _SMALLEST_MARKER = 12.0, 1.5, 4.0
_BEFORE_ZERO = 0.05  # of an axis of gaps

#: Ratios of the largest to the smallest value above which the axis of gaps or times is logarithmic.
_WIDE_GAPS, _WIDE_TIMES = 20.0, 5.0

#: The smallest gap on the logarithmic part of an axis; smaller gaps lie on a linear part down to 0.
_SMALLEST_DECADE = 1e-4

#: Height of a line and of the margins in inches, and maximum length of a name in characters.
_LINE, _AROUND, _LONGEST = 0.28, 1.6, 40

#: Free space for labels beyond the largest value, as a factor on a logarithmic axis and as a fraction of the
#: span on a linear one.
_FACTOR, _SHARE = 1.6, 0.18


def gaps(
    points: Mapping[str, Sequence[tuple[float, str]]],
    axes: "Axes | None" = None,
    *,
    instances: Sequence[str] = (),
) -> "Axes":
    """Plot gaps, with one row per instance and one marker shape per method.

    Markers of equal gaps are nested. `points` maps each method to the gap and instance of each of its results.
    `instances` is the order of the rows. If the largest gap is more than 20 times the smallest positive one,
    the axis is logarithmic except near 0.
    """
    instances = list(instances or dict.fromkeys(name for found in points.values() for _, name in found))
    axes = axes or _new_axes(len(instances))
    axes.set_xlabel("gap to the best proven bound")
    for place, (method, found) in enumerate(points.items()):
        axes.plot(
            [gap for gap, _ in found],
            [instances.index(name) for _, name in found],
            linestyle="",
            marker=_SHAPES[place % len(_SHAPES)],
            markersize=max(_LARGEST_MARKER - _SMALLER * place, _SMALLEST_MARKER),
            markeredgewidth=1.4,
            color=COLOURS[place % len(COLOURS)],
            fillstyle="none",
            label=method,
            clip_on=False,
        )
    axes.set_yticks(range(len(instances)), map(_shortened, instances), parse_math=False)
    axes.tick_params(axis="y", pad=8)  # half a marker of a gap of 0
    axes.set_ylim(max(len(instances), 1) - 0.5, -0.5)
    every = [gap for found in points.values() for gap, _ in found]
    positive = [gap for gap in every if gap > 0]
    if positive and max(positive) > _WIDE_GAPS * min(positive):
        _set_log_gap_axis(axes, min(positive), max(positive))
    else:
        low, high = pad_equal(axes.get_xlim(), every)
        axes.set_xlim(min(low, -_BEFORE_ZERO * high), high)
        tick_shares(axes.xaxis)
    axes.grid(axis="x", alpha=0.3)
    if points:
        legend_beside(axes)
    return axes


def _set_log_gap_axis(axes: "Axes", least: float, most: float) -> None:
    """Show gaps on a logarithmic axis that includes 0, with ticks at powers of ten."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    first, last = floor(log10(max(least, _SMALLEST_DECADE))), floor(log10(most)) + 1
    axes.set_xscale("symlog", linthresh=10.0**first, linscale=0.5)
    axes.set_xlim(0, 10.0**last if most > 0.5 * 10**last else 2 * most)
    ticks = [0.0, *(10.0**power for power in range(first, last))]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda gap, _: f"{100 * gap:,.10g} %"))


def mean_times(
    rows: Sequence[tuple[str, float | None, float | None]],
    bound: float | None,
    failed: Sequence[str] = (),
    unit: str = "",
) -> "Axes":
    """Plot the mean job completion times of policies, with the shortest at the top, and a proven lower bound.

    Each row is a policy with its mean, which may be None, and its gap, which becomes a label. The names in
    `failed` are listed below. The axis is logarithmic if the longest time is more than five times the shortest
    time or the bound, whichever is smaller. Otherwise, it has the given unit, or one that suits the times.
    """
    ordered = sorted(rows, key=lambda row: (row[1] is None, row[1]))
    names = [name for name, _, _ in ordered] + list(failed)
    axes = _new_axes(len(names))
    axes.set_yticks(range(len(names)), map(_shortened, names), parse_math=False)
    axes.set_ylim(max(len(names), 1) - 0.5, -0.5)
    times = [time for _, time, _ in ordered if time is not None]
    every = times if bound is None else [bound, *times]
    _set_mean_axis(axes, every, unit)
    for place, (_, time, gap) in enumerate(ordered):
        if time is None:
            _label(axes, 0, place, "no job completes", inside=True)
            continue
        if bound is not None:
            axes.plot([bound, time], [place, place], color="0.6", linewidth=1.5, zorder=1)
        axes.plot([time], [place], marker="o", color=COLOURS[0], linestyle="", zorder=2)
        if gap is not None:
            _label(axes, time, place, percent(gap))
    for place in range(len(ordered), len(names)):
        _label(axes, 0, place, "failed", inside=True)
    if bound is not None:
        label = "proven bound, and the gap to it"
        axes.axvline(bound, color=COLOURS[1], linestyle="--", zorder=0, label=label)
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False)
    axes.grid(axis="x", alpha=0.3)
    return axes


def _set_mean_axis(axes: "Axes", times: Sequence[float], name: str) -> None:
    """Set the scale, limits and unit of a time axis, leaving room for labels on the right."""
    low, high = min(times, default=0.0), max(times, default=1.0)
    if low > 0 and high > _WIDE_TIMES * low:
        axes.set_xscale("log")
        axes.set_xlim(low / 1.3, high * _FACTOR)
        unit = set_log_time_axis(axes.xaxis, low / 1.3, high * _FACTOR)
    else:
        axes.set_xlim(0, high * (1 + _SHARE) or 1.0)
        unit = tick_time(axes.xaxis, 0.0, high or 1.0, name)
    axes.set_xlabel(f"mean JCT [{unit}]" if unit else "mean JCT")


def _label(axes: "Axes", x: float, y: float, text: str, *, inside: bool = False) -> None:
    """Write a label to the right of a point, or at the left edge if there is no point."""
    where: dict[str, Any] = {"xycoords": axes.get_yaxis_transform()} if inside else {}
    axes.annotate(text, (x, y), (6, 0), textcoords="offset points", va="center", fontsize=8, **where)


def _new_axes(lines: int) -> "Axes":
    """Return the axes of a new figure with room for the given number of lines."""
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(figsize=(9, _LINE * max(lines, 1) + _AROUND), layout="constrained")
    return axes


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
