"""Convergence: a plot of how a search's best candidate approaches the optimum."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gsopt.core.drawing import legend_beside, looks, tick_counts, titled
from gsopt.core.errors import InvalidInput, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def convergence(logbooks: Mapping[str, Any], *, optimum: float, axes: "Axes | None" = None) -> "Axes":
    """Plot the relative gap between the best candidate of each generation and the optimum, a line per search.

    The gap axis is linear below 0.1 %, so that it can show 0, and logarithmic above. A dot marks the first
    generation whose candidates all have the same score. From then on, crossover has little to combine.

    Parameters
    ----------
    logbooks
        DEAP logbooks, such as `heuristics.batching.evolution.Evolved.logbook`, keyed by search name.
    optimum
        The least possible cost, above 0.
    axes
        The axes on which to plot, or None for a new figure.

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
        raise InvalidInput("optimum", shorten(optimum), "must be above 0, as gaps are relative to it")
    from matplotlib.ticker import FuncFormatter

    axes = titled(axes, "generation", "cost above the optimum", size=(9, 4))
    for (label, logbook), look in zip(logbooks.items(), looks(len(logbooks)), strict=True):
        generations, best, distinct = logbook.select("generation", "best", "distinct")
        gaps = np.maximum(np.array(best) / optimum - 1, 0)
        axes.plot(
            generations, gaps, markevery=max(1, len(gaps) // 8), fillstyle="none", label=label, **look._asdict()
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


#: The gap below which the axis is linear, and the gap below which labels have a decimal place.
_LINEAR, _PERCENT = 1e-3, 0.01
