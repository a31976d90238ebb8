"""Poisson arrivals."""

from itertools import pairwise
from math import exp
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from instances.workloads import batch, poisson
from instances.workloads.shape import ITP, PHILLY


def test_gaps_are_exponentially_distributed() -> None:
    """Gaps have the mean that the load asks for, and exceed it with probability 1/e."""
    jobs = poisson(jobs=20_000, gpus=64, load=0.8, seed=1).jobs
    gaps = [after.release_date - before.release_date for before, after in pairwise(jobs)]
    mean = PHILLY.mean_gpu_seconds(64) / (0.8 * 64)

    assert sum(gaps) / len(gaps) == pytest.approx(mean, rel=0.05)
    assert sum(gap > mean for gap in gaps) / len(gaps) == pytest.approx(exp(-1), rel=0.05)


def test_the_load_is_submitted() -> None:
    """Very many jobs submit about the GPU time that the load says."""
    workload = poisson(jobs=50_000, gpus=64, load=1.2, shape=ITP, seed=3)
    submitted = workload.gpu_hours * 3600 / (64 * workload.jobs[-1].release_date)

    assert submitted == pytest.approx(1.2, rel=0.1)


def test_the_seed_decides() -> None:
    """The same seed gives the same workload, another seed another."""
    assert poisson(seed=4) == poisson(seed=4) != poisson(seed=5)


def test_loads_and_batches_share_their_jobs() -> None:
    """GPUs and durations do not depend on the load, nor on whether the jobs arrive at once."""
    kinds = [
        [(job.name, job.gpus, job.duration) for job in workload.jobs]
        for workload in (poisson(load=0.3, seed=6), poisson(load=3, seed=6), batch(seed=6))
    ]

    assert kinds[0] == kinds[1] == kinds[2]


@pytest.mark.parametrize("jobs", [1, 2, 7])
def test_the_first_job_is_released_at_once(jobs: int) -> None:
    """There are as many jobs as asked for, the first at second 0."""
    workload = poisson(jobs=jobs)

    assert len(workload.jobs) == jobs
    assert workload.jobs[0].release_date == 0
    assert workload.name == f"poisson-{jobs}"


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no jobs": ({"jobs": 0}, "jobs"),
    "no GPUs": ({"gpus": 0}, "gpus"),
    "no load": ({"load": 0}, "load"),
    "hardly any load": ({"load": 1e-300}, "load"),
    "far too much load": ({"load": 1e300}, "load"),
    "a negative load": ({"load": -1}, "load"),
    "an endless load": ({"load": float("inf")}, "load"),
    "no number": ({"load": float("nan")}, "load"),
}


@pytest.mark.parametrize(("arguments", "name"), BAD.values(), ids=BAD.keys())
def test_bad_arguments_are_refused(arguments: dict[str, Any], name: str) -> None:
    """An argument out of its range is refused in one line that names it."""
    with pytest.raises(InvalidInput, match=f"^{name}: .*: must be "):
        poisson(**arguments)
