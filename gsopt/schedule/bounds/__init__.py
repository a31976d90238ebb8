"""Bounds: lower bounds on the sum of completion times that scale to whole traces.

The bounds hold for every policy, whatever it resizes, preempts, shares out in rounds or loses in overhead: a
job on k GPUs progresses at most at the speed that the menu of its mode says, and the held GPUs never exceed the
capacity. GPUs of slower types count by what they are worth (`gsopt.schedule.bounds.capability`): a job is as
many times slower on them as they are worth less, so they do not change its area. Each job enters by its area
(least GPU-seconds over the menus of all its modes, phase by phase), its height (least seconds, likewise) and
its release date. Where network tiers slow jobs down, `on_best_tiers` gives the jobs that bounds look at, and
where jobs are adaptive `on_highest_speeds` does. They bound the sum of completion times; `total_jct` turns that
into one of job completion times.

`gsopt.schedule.bounds.prices` has the bound by prices of GPU time, which is much better and takes longer;
`mean_jct_bound` gives the best of all that is affordable.

Formulas are computed in exact numbers, times read as the decimals they are written as and counted from the
first release date. So nothing is lost of a job that is released late, nor of one beside a job that takes a
billion times as long; what has to be rounded is rounded down.
"""

from gsopt.schedule.bounds.adaptive import on_highest_speeds
from gsopt.schedule.bounds.alone import height_bound
from gsopt.schedule.bounds.best import MOORE_HODGSON_JOBS, lower_bound, mean_jct, total_jct
from gsopt.schedule.bounds.jct import MeanBound, known_bound, mean_jct_bound
from gsopt.schedule.bounds.mean_busy_time import mean_busy_time_bound
from gsopt.schedule.bounds.moore_hodgson import moore_hodgson_bound, moore_hodgson_positions
from gsopt.schedule.bounds.position import position_bound
from gsopt.schedule.bounds.srpt import srpt_bound
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
    "on_highest_speeds",
    "position_bound",
    "srpt_bound",
    "total_jct",
]
