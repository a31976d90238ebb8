"""Bounds: lower bounds on the sum of completion times that scale to whole traces.

The bounds hold for every policy, with preemption, resizes, rounds and overheads: a job on k GPUs progresses at
most at the speed in the menu of its mode, and the GPUs in use never exceed the capacity. GPUs of slower types
count by what they are worth (`gsopt.schedule.bounds.capability`): a job is as many times slower on them as they
are worth less, so its area stays the same. A job enters by its area (least GPU-seconds over the menus of all
its modes, phase by phase), its height (least seconds, likewise) and its release date. Where network tiers slow
jobs down, the bounds apply to the jobs of `on_best_tiers`, and where jobs are adaptive to those of
`on_weighted_epochs`. No job progresses before the overhead of its first start is over. `total_jct` turns a sum
of completion times into one of job completion times.

`gsopt.schedule.bounds.prices` has the bound by prices of GPU time, which is much better and takes longer;
`mean_jct_bound` returns the best that is affordable.

Formulas are computed in exact numbers, from times read as the decimals they are written as and counted from the
first release date. So neither late release dates nor durations of very different magnitudes cost accuracy;
rounding is always down.
"""

from gsopt.schedule.bounds.adaptive import on_weighted_epochs
from gsopt.schedule.bounds.best import MOORE_HODGSON_JOBS, lower_bound, mean_jct, total_jct
from gsopt.schedule.bounds.jct import MeanBound, known_bound, mean_jct_bound
from gsopt.schedule.bounds.mean_busy_time import mean_busy_time_bound
from gsopt.schedule.bounds.moore_hodgson import moore_hodgson_bound, moore_hodgson_positions
from gsopt.schedule.bounds.position import height_bound, position_bound, srpt_bound
from gsopt.schedule.bounds.tiers import on_best_tiers
from gsopt.schedule.bounds.work import area, height

__all__ = [
    "MOORE_HODGSON_JOBS",
    "MeanBound",
    "area",
    "height",
    "height_bound",
    "known_bound",
    "lower_bound",
    "mean_busy_time_bound",
    "mean_jct",
    "mean_jct_bound",
    "moore_hodgson_bound",
    "moore_hodgson_positions",
    "on_best_tiers",
    "on_weighted_epochs",
    "position_bound",
    "srpt_bound",
    "total_jct",
]
