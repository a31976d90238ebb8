"""Remaining: the least GPU time left goes first."""

from heuristics.policies.aryl.epoch import Elastic
from heuristics.policies.aryl.schedulers.remaining import area, least_area
from tests.heuristics.policies.aryl.schedulers.epochs import linear


def test_linear_jobs_rank_by_their_area() -> None:
    """Every worker of a job that scales linearly ranks by its GPU-seconds, 2 workers of 3 GPUs for 10 s."""
    job = linear(0, 10.0, base=2, gpus=3)
    assert area(job) == 60
    assert [least_area(4)(job, before, before + 1) for before in range(2)] == [60, 60]


def test_bad_scaling_ranks_later() -> None:
    """A worker that adds half as much counts as twice, or to the power, as much time."""
    job = Elastic(0, 10.0, 1, 1, 3, 0, "training", (1.0, 1.5, 1.5))
    assert [least_area(exponent)(job, 0, 1) for exponent in (1, 3)] == [20, 80]
    assert least_area(1)(job, 1, 2) is None
