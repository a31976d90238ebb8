"""Bounds: lower bounds on the sum of completion times that scale to whole traces.

The bounds hold for every policy, whatever it resizes, preempts, shares out in rounds or loses in overhead: a
job on k GPUs progresses at most at the speed that the menu of its mode says, and the held GPUs never exceed the
capacity. GPUs of slower types count by what they are worth (`gsopt.bounds.capability`): a job is as many times
slower on them as they are worth less, so they do not change its area. Each job enters by its area (least
GPU-seconds over the menus of all its modes, phase by phase), its height (least seconds, likewise) and its
release date. Where network tiers slow jobs down, `on_best_tiers` gives the jobs that bounds look at, and
where jobs are adaptive `on_highest_speeds` does. They bound
the sum of completion times; subtract the release dates for job completion times.

`gsopt.bounds.prices` has the bound by prices of GPU time, which is much better and takes longer;
`mean_jct_bound` gives the best of all that is affordable.

All is computed on a clock that begins at the first release date, and only the result is turned into the
workload's, so late dates cost no digits.
"""

from gsopt.bounds.adaptive import on_highest_speeds
from gsopt.bounds.alone import height_bound
from gsopt.bounds.best import MOORE_HODGSON_JOBS, lower_bound, mean_jct
from gsopt.bounds.jct import MeanBound, known_bound, mean_jct_bound
from gsopt.bounds.mean_busy_time import mean_busy_time_bound
from gsopt.bounds.moore_hodgson import moore_hodgson_bound, moore_hodgson_positions
from gsopt.bounds.position import position_bound
from gsopt.bounds.srpt import srpt_bound
from gsopt.bounds.tiers import on_best_tiers
from gsopt.bounds.work import area, height

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
]
