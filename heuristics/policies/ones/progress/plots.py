"""Plots: forecasts over a job's training, and how well they are calibrated."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gsopt.core.drawing import COLOURS, legend_beside, looks, tick_shares, titled
from heuristics.policies.ones.progress.calibration import Calibration
from heuristics.policies.ones.progress.observation import EpochReport, features_of
from heuristics.policies.ones.progress.predictor import ProgressPredictor

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 10
_MOST_TICKS = 5  # each has up to nine digits


def progress_band(
    predictor: ProgressPredictor,
    log: Sequence[EpochReport],
    *,
    total: float | None = None,
    level: float = 0.9,
    axes: "Axes | None" = None,
) -> "Axes":
    """Plot the observed and the forecast progress of a job against its processed samples.

    Source: ONES, Figure 6.

    Parameters
    ----------
    predictor
        The predictor, which does not learn from the log.
    log
        The observations of the job at the end of each epoch, in order.
    total
        Total samples of the job; None stands for the number processed up to the last observation.
    level
        The probability of the shaded interval.
    axes
        The axes on which to plot, or None for a new figure.
    """
    from matplotlib.ticker import MaxNLocator

    axes = titled(axes, "processed samples", "training progress", size=(7, 4))
    forecast = predictor.predict(log)
    processed = features_of(log)[:, 2]
    every = float(processed.max(initial=0.0)) if total is None else total
    low, high = forecast.interval(level)
    axes.fill_between(
        processed, low, high, color=COLOURS[0], alpha=0.2, linewidth=0, label=f"{level:.0%} interval"
    )
    axes.plot(processed, forecast.mean_progress, color=COLOURS[0], label="mean of the forecast")
    axes.plot(processed, processed / max(every, 1), color="black", linestyle="--", label="observed")
    axes.set_ylim(0, 1.02)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.xaxis.set_major_locator(MaxNLocator(_MOST_TICKS, integer=True))
    tick_shares(axes.yaxis)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", fontsize=8, frameon=False)
    return axes


def coverage(found: Mapping[str, Calibration], *, axes: "Axes | None" = None) -> "Axes":
    """Plot the fraction of forecasts whose central interval at each level contains the true progress.

    Calibrated forecasts lie on the diagonal. Forecasts below it are overconfident. `found` holds the
    calibration of each predictor, keyed by its name.
    """
    axes = titled(axes, "level of the interval", "forecasts that hold the truth", size=(6, 4))
    levels = np.linspace(0, 1, 101)
    axes.plot([0, 1], [0, 1], color="black", linewidth=1, label="calibrated")
    for (name, calibration), look in zip(found.items(), looks(len(found)), strict=True):
        axes.plot(
            levels,
            calibration.coverage(levels),
            markevery=10,
            fillstyle="none",
            label=name,
            **look._asdict(),
        )
    for axis in (axes.xaxis, axes.yaxis):
        tick_shares(axis)
    axes.grid(alpha=0.3)
    legend_beside(axes)
    return axes


def reached(calibration: Calibration, *, axes: "Axes | None" = None) -> "Axes":
    """Plot how often the true progress falls into each tenth of its forecast distribution.

    For calibrated forecasts, all tenths are equally frequent. For overconfident ones, the true progress is in
    the outer tenths too often.
    """
    axes = titled(axes, "forecast probability of less progress", "forecasts", size=(6, 4))
    counts, edges = np.histogram(calibration.reached, bins=_BINS, range=(0, 1))
    shares = counts / len(calibration.reached)
    axes.bar(edges[:-1], shares, width=np.diff(edges), align="edge", color=COLOURS[0], edgecolor="white")
    axes.axhline(1 / _BINS, color="black", linewidth=1, label="calibrated")
    axes.set_xlim(0, 1)
    for axis in (axes.xaxis, axes.yaxis):
        tick_shares(axis)
    axes.legend(loc="upper center", fontsize=8, frameon=False)
    return axes
