"""Prices: the value of a GPU over time, given by the dual values that prove a bound."""

from typing import TYPE_CHECKING

from gsopt.core.drawing import COLUMN, set_time_axis, titled
from gsopt.schedule.bounds.prices import PriceBound

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOUR = "#D55E00"


def prices(bound: PriceBound, *, title: str = "", axes: "Axes | None" = None) -> "Axes":
    """Plot the GPU prices of a bound over time.

    Time is divided into intervals. The price in an interval is the number of hours by which the bound on the
    (weighted) total job completion time falls for each additional GPU-hour in this interval, if all prices stay
    the same. If the prices are improved afterwards, the bound may fall by less. If up to k jobs may share a
    GPU, each GPU has k places, and the price is that of all of them together. A GPU of a slower type counts as
    a part of a GPU, in proportion to its speed. Surcharges for GPU types or individual jobs are not shown.

    Parameters
    ----------
    bound
        The bound whose prices are plotted.
    title
        Title above the chart.
    axes
        The axes to draw on; None for a new figure.

    Examples
    --------
    >>> from gsopt.schedule.bounds.prices import price_bound
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.scenario.scenario import Scenario
    >>> jobs = Workload(jobs=[Job(name=n, release_date=0, duration=60, gpus=1) for n in "abc"])
    >>> prices(price_bound(Scenario.of(jobs, 1), evaluations=20)).get_ylabel()
    'hours saved by a GPU-hour'
    """
    axes = titled(axes, "", "hours saved by a GPU-hour", size=(COLUMN, 2.2))
    edges = [bound.origin + time for time in bound.times]
    heights = [bound.share_limit * price for price in (*bound.prices, bound.prices[-1])]
    axes.fill_between(edges, heights, step="post", color=_COLOUR, alpha=0.25, linewidth=0)
    axes.step(edges, heights, where="post", color=_COLOUR, linewidth=1)
    set_time_axis(axes, edges[0], edges[-1])
    axes.set_ylim(bottom=0)
    axes.set_title(title, fontsize="medium")
    return axes
