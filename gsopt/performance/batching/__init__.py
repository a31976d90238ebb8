"""Batching: the training speed of jobs by batch size and number of GPUs, and the data of such jobs.

`StepTime` models the duration of a step, and `Tabulated` contains measured throughputs. `BatchingJob` is a job
with limits on its batch size and with its remaining work, which is either known or follows from a distribution
of its progress (`Progress`). `LimitRules` defines how the batch limit changes over time.
`heuristics.policies.ones.progress` predicts the remaining work from completed jobs.
`gsopt.problems.batching.Batching` is the decision problem for all jobs together.

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
