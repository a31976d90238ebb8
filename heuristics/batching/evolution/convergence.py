"""Convergence: how the best candidate comes closer to the optimum, drawn from the logbooks of searches."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gsopt.core.drawing import legend_beside, looks, tick_counts, titled
from gsopt.core.errors import InvalidInput, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKS_PER_LINE = 8


def convergence(logbooks: Mapping[str, Any], *, optimum: float, axes: "Axes | None" = None) -> "Axes":
    """Draw by how much the best candidate of each generation costs more than the optimum, one line per search.

    The axis of gaps is linear below one per mille, so that it has a 0, and logarithmic above. A line has a dot
    where all candidates have the same score for the first time: from there on there is little left to combine.

    Parameters
    ----------
    logbooks
        Logbooks of DEAP, such as that of `heuristics.batching.evolution.Evolved`, by name of the search.
    optimum
        Least cost that is possible, above 0.
    axes
        Where to draw; on a new figure when None.

    Raises
    ------
    InvalidInput
        The optimum is not above 0.

    Examples
    --------
    >>> from heuristics.batching.evolution import CostTable, evolve
    >>> table = CostTable.of(["a", "b"], [[0, 4, 6], [0, 1, float("inf")]], weight=[2, 1])
    >>> axes = convergence({"paper": evolve(table, 3).logbook}, optimum=9.0)
    >>> axes.lines[0].get_ydata().tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    if not optimum > 0:
        raise InvalidInput("", "optimum", shorten(optimum), "must be above 0, as gaps are relative to it")
    from matplotlib.ticker import FuncFormatter

    axes = titled(axes, "generation", "cost above the optimum", size=(9, 4))
    for (label, logbook), look in zip(logbooks.items(), looks(len(logbooks)), strict=True):
        generations, best, distinct = logbook.select("generation", "best", "distinct")
        gaps = np.maximum(np.array(best) / optimum - 1, 0)
        axes.plot(
            generations, gaps, markevery=_marks(len(gaps)), fillstyle="none", label=label, **look._asdict()
        )
        alike = [place for place, number in enumerate(distinct) if number == 1][:1]
        axes.plot([generations[place] for place in alike], gaps[alike], ".", color=look.color, markersize=10)
    axes.set_yscale("symlog", linthresh=_LINEAR)
    axes.set_ylim(bottom=-_LINEAR / 10)  # so that markers at 0 are seen
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda gap, _: f"{gap:.0%}" if gap >= _PERCENT else f"{gap:.1%}")
    )
    tick_counts(axes.xaxis)
    axes.grid(alpha=0.3)
    if logbooks:
        legend_beside(axes)
    return axes


def _marks(points: int) -> int:
    return max(1, points // _MARKS_PER_LINE)


#: Gaps below which the axis is linear, and below which they have a decimal.
_LINEAR, _PERCENT = 1e-3, 0.01
