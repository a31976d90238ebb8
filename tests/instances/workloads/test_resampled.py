"""Workloads drawn from workloads."""

from math import inf

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job, Workload
from instances.workloads.resampled import resampled

POOL = [
    Workload(
        source=f"pool {first}",
        jobs=[Job(name=f"p{first + k}", release_date=k, duration=60 + first + k, gpus=1) for k in range(5)],
    )
    for first in (0, 10)
]


def test_jobs_are_drawn_with_return() -> None:
    """More jobs than there are in the pool, each one of the pool's, under names of their own."""
    workload = resampled(POOL, jobs=200, seconds=3600, seed=1)

    assert len(workload.jobs) == len({job.name for job in workload.jobs}) == 200
    assert {job.duration for job in workload.jobs} == {job.duration for one in POOL for job in one.jobs}
    assert all(job.name.endswith(f"-p{round(job.duration) - 60}") for job in workload.jobs)
    assert workload.source == "200 jobs over 3600 s drawn with seed 1 from: pool 0; pool 10"


def test_release_dates_spread_over_the_time() -> None:
    """All are within the time, ascending, and each quarter has about its share."""
    dates = [job.release_date for job in resampled(POOL, jobs=2000, seconds=400).jobs]

    assert dates == sorted(dates)
    assert dates[0] >= 0
    assert dates[-1] <= 400
    assert all(400 < sum(start <= date < start + 100 for date in dates) < 600 for start in (0, 100, 200, 300))


def test_the_seed_decides() -> None:
    """The same seed gives the same workload, another one another."""
    assert resampled(POOL, jobs=9, seconds=60) == resampled(POOL, jobs=9, seconds=60, seed=0)
    assert resampled(POOL, jobs=9, seconds=60).jobs != resampled(POOL, jobs=9, seconds=60, seed=1).jobs


def test_arguments_are_checked() -> None:
    """No jobs, no time and nothing to draw from are refused in one line."""
    with pytest.raises(InvalidInput, match="jobs: 0: must be at least 1"):
        resampled(POOL, jobs=0, seconds=60)
    for seconds in (0, inf):
        with pytest.raises(InvalidInput, match=r"seconds: .*: must be a finite number above 0"):
            resampled(POOL, jobs=1, seconds=seconds)
    with pytest.raises(InvalidInput, match="workloads: 1: must hold at least one job"):
        resampled([Workload(jobs=[])], jobs=1, seconds=60)
