"""Bounds: lower bounds on the sum of completion times, fast enough for whole traces.

The bounds hold for every policy, regardless of its preemptions, resizes, rounds and overheads. They assume only
that a job on k GPUs is no faster than the menu of its mode says, that it makes no progress until the overhead
of its first start is over, and that the GPUs in use never exceed the capacity. The bounds mainly use three
properties of a job: its area (the minimum GPU-seconds, with the most efficient mode and GPU count for each
phase), its height (the minimum duration in seconds, with the fastest ones) and its release date. GPUs of slower
types are weighted by their capability (`gsopt.schedule.bounds.capability`), which leaves areas unchanged. With
network tiers, the bounds apply to the jobs returned by `on_best_tiers`; with adaptive jobs, they apply to those
returned by `on_weighted_epochs`. `total_jct` converts a sum of completion times, which are points in time, into
a sum of job completion times, which are counted from release.

`gsopt.schedule.bounds.prices` derives a bound from prices of GPU time. It is usually much stronger, but takes
longer to compute. `mean_jct_bound` returns the best affordable bound.

Times are read as decimals and counted from the first release date, and formulas are evaluated in exact
arithmetic as far as possible. All rounding is downwards. Late release dates and very different durations
therefore cost hardly any accuracy.
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
