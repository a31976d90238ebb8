"""Pictures of schedules and runs: who ran where, who waited, how long it took.

Colours have a meaning and can be told apart by the colour-blind; time is in hours or days where it is long.
matplotlib is imported when something is drawn.
"""

from gsopt.simulation.plots.counts import gpus_in_use, jct_distribution, queue
from gsopt.simulation.plots.gantt import gantt
from gsopt.simulation.plots.jobs import jobs
from gsopt.simulation.plots.overview import overview, save
from gsopt.simulation.plots.parts import Part, boxes, shares
from gsopt.simulation.plots.prices import prices
from gsopt.simulation.plots.runs import jobs_remaining, utilisation

__all__ = [
    "Part",
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
