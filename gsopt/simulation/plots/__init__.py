"""Plots: charts that show where jobs ran, when they waited, and how long they took.

The colours can be told apart by colour-blind readers, and long times are shown in hours or days. matplotlib
is imported only when a chart is plotted.
"""

from gsopt.simulation.plots.counts import gpus_in_use, jct_distribution, queue
from gsopt.simulation.plots.gantt import gantt
from gsopt.simulation.plots.jobs import jobs
from gsopt.simulation.plots.overview import overview, save
from gsopt.simulation.plots.prices import prices
from gsopt.simulation.plots.runs import JobTime, boxes, jobs_remaining, shares, utilisation

__all__ = [
    "JobTime",
    "boxes",
    "gantt",
    "gpus_in_use",
    "jct_distribution",
    "jobs",
    "jobs_remaining",
    "overview",
    "prices",
    "queue",
    "save",
    "shares",
    "utilisation",
]
