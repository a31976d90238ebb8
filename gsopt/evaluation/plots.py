"""Plots of gaps, which can be read without colour too; matplotlib is imported when needed."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gsopt.core.drawing import COLOURS, legend_beside, pad_equal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Markers of gaps, from a large one to small ones within it.
_SHAPES = "osD^v<>PX*h"
_LARGEST_MARKER, _SMALLER, _SMALLEST_MARKER = 12.0, 1.5, 4.0
_BEFORE_ZERO = 0.05  # of an axis of gaps


def gaps(points: Mapping[str, Sequence[tuple[float, str]]], axes: "Axes") -> "Axes":
    """Draw gaps, one row per instance and one kind of marker per method; markers that agree lie in each other.

    The points are the gap and the instance of every result, by method.
    """
    from matplotlib.ticker import PercentFormatter

    instances = list(dict.fromkeys(name for found in points.values() for _, name in found))
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
        )
    axes.set_yticks(range(len(instances)), instances)
    axes.set_ylim(len(instances) - 0.5, -0.5)
    every = [gap for found in points.values() for gap, _ in found]
    low, high = pad_equal(axes.get_xlim(), every)
    axes.set_xlim(min(low, -_BEFORE_ZERO * high), high)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.grid(axis="x", alpha=0.3)
    legend_beside(axes)
    return axes
