"""Batching: what elastic batch sizes rest on, from how fast jobs train to how much of their training is left.

`StepTime` is a model of the seconds of a step, `Tabulated` measured throughput; `BatchingJob` is a job with the
limits of its batch size and what is left of it, known or as a distribution (`Progress`), and `LimitRules` say
how those limits change. The decision over all jobs is `gsopt.problems.batching.Batching`.

Examples
--------
>>> StepTime(fixed=0.02, per_sample=0.001).samples_per_second(64, 2)
Fraction(16000, 13)
"""

from gsopt.batching.job import BatchingJob, Progress
from gsopt.batching.limits import LimitRules, ScaleDown, scaled_down
from gsopt.batching.throughput import Rate, StepTime, Tabulated, Throughput

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
