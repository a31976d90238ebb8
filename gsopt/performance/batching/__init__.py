"""Batching: the training speed of jobs by batch size and number of GPUs, and the data of such jobs.

`StepTime` models the duration of a step, and `Tabulated` holds measured throughput. `BatchingJob` is a job with
limits on its batch size and with its remaining work, either known or as a distribution (`Progress`).
`LimitRules` defines how the limits change over time, and `heuristics.policies.ones.progress` predicts the
remaining work from completed jobs. The decision problem for all jobs together is
`gsopt.problems.batching.Batching`.

Examples
--------
>>> StepTime(fixed=0.02, per_sample=0.001).samples_per_second(64, 2)
Fraction(16000, 13)
"""

from gsopt.performance.batching.job import BatchingJob, Progress
from gsopt.performance.batching.limits import LimitRules, ScaleDown, scaled_down
from gsopt.performance.batching.throughput import Rate, StepTime, Tabulated, Throughput

__all__ = [
    "BatchingJob",
    "LimitRules",
    "Progress",
    "Rate",
    "ScaleDown",
    "StepTime",
    "Tabulated",
    "Throughput",
    "scaled_down",
]
