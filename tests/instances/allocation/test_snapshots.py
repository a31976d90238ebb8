"""Snapshots of a workload."""

import pytest

from gsopt.scenario.job import Job, Workload
from instances.allocation.snapshots import busiest, measured, proportional, running

WORKLOAD = Workload(
    name="three",
    source="made by hand",
    jobs=(
        Job(name="a", release_date=0, duration=100, gpus=24),
        Job(name="b", release_date=50, duration=100, gpus=4),
        Job(name="c", release_date=100, duration=10, gpus=8),
    ),
)


def test_the_busiest_moment() -> None:
    """Jobs a and b use 28 GPUs from second 50 on; a job that ends makes room before one that starts."""
    assert busiest(WORKLOAD.jobs) == 50
    assert [job.name for job in running(WORKLOAD.jobs, 50)] == ["a", "b"]
    assert [job.name for job in running(WORKLOAD.jobs, 100)] == ["b", "c"]
    assert busiest([]) == 0


def test_proportional_jobs() -> None:
    """24 GPUs are three workers of eight with 50 s to go; a quarter of the 28 GPUs in use remains."""
    problem = proportional(WORKLOAD)
    first, second = problem.jobs
    assert (first.min_workers, first.max_workers, first.gpus_per_worker) == (3, 12, 8)
    assert [job.time for job in problem.jobs] == [50, 100]
    assert (second.min_workers, second.max_workers, second.gpus_per_worker) == (1, 4, 4)
    assert problem.capacity == 7
    assert problem.about is not None
    assert "second 50" in problem.about.source


def test_measured_jobs() -> None:
    """Values follow the curve in steps, fall where it falls, and jobs that no curve fits are left out."""
    problem = measured(WORKLOAD, [{4: 2.0, 8: 4.0, 16: 1.0}])
    (job,) = problem.jobs
    assert (job.min_workers, job.max_workers, job.gpus_per_worker) == (4, 16, 1)
    assert job.values == (0, 0, 0, 50, 50, 50, 50, 50, 50, 50, 50, -100)
    assert problem.capacity == 1


@pytest.mark.parametrize("count", [1, 2, 3])
def test_curves_take_turns(count: int) -> None:
    """Several curves are all used."""
    jobs = tuple(Job(name=str(n), release_date=0, duration=60, gpus=1) for n in range(6))
    curves = [{1: 1.0, 2: 1.0 + k} for k in range(count)]
    problem = measured(Workload(name="six", jobs=jobs), curves)
    assert len({job.values for job in problem.jobs}) == count
