"""Snapshots of replayed workloads."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from gsopt.core.problem import About
from gsopt.scenario.job import Job, Workload
from instances.reclaiming.snapshots import snapshots
from instances.traces.reading import Reading

TEN = Workload(
    name="ten",
    source="made up",
    jobs=tuple(Job(name=f"j{number}", release_date=10 * number, duration=25, gpus=4) for number in range(10)),
)


def test_snapshots_at_given_times() -> None:
    """Snapshots come by time, each with the jobs that run then and its place in the series."""
    taken = snapshots(TEN, servers=4, demand=1, times=[200, 30])

    assert [problem.name for problem in taken] == ["ten-1", "ten-2"]
    assert [[job.name for job in problem.jobs] for problem in taken] == [["j1", "j2", "j3"], []]
    for problem, time in zip(taken, (30, 200), strict=True):
        where = f"replayed on 4 servers by best fit, mode packed, at {time} s"
        queue = "0 jobs waiting, 0 larger than the cluster left out"
        assert problem.about == About(source=f"made up; {where}; {queue}", seed=0)


def test_snapshots_are_evenly_spaced() -> None:
    """Without times, snapshots divide the time between first and last release date evenly."""
    expected = snapshots(TEN, servers=4, demand=1, times=[30, 60])

    assert snapshots(TEN, servers=4, demand=1, count=2) == expected


def test_jobs_that_are_too_large_are_counted() -> None:
    """A job larger than the cluster is left out, and the source says so."""
    jobs = (*TEN.jobs, Job(name="large", release_date=5, duration=9, gpus=64))
    (taken,) = snapshots(Workload(jobs=jobs), servers=1, demand=1, times=[30])

    assert taken.about is not None
    assert taken.about.source.endswith("1 jobs waiting, 1 larger than the cluster left out")
    assert taken.name == "snapshot-1"


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 30), st.sampled_from(["packed", "mixed", "worker"]), st.integers(0, 99))
def test_jobs_keep_their_gpus(servers: int, mode: Any, seed: int) -> None:
    """Every running job has all its GPUs, and the same seed gives the same instances."""
    gpus = [1, 2, 4, 8, 12, 16, 24, 64]
    jobs = tuple(
        Job(name=f"j{number}", release_date=number, duration=20, gpus=gpus[number * 5 % 8])
        for number in range(60)
    )
    taken = snapshots(Workload(jobs=jobs), servers=servers, demand=1, count=4, mode=mode, seed=seed)

    wanted = {job.name: job.gpus for job in jobs}
    assert all(job.gpus == wanted[job.name] for problem in taken for job in problem.jobs)
    again = snapshots(Workload(jobs=jobs), servers=servers, demand=1, count=4, mode=mode, seed=seed)
    assert taken == again


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no servers": ({"servers": 0}, "servers: 0: must be at least 1"),
    "too much demand": ({"servers": 9}, "demand: 60: must be between 0 and the 9 servers"),
    "no snapshot": ({"count": 0}, "count: 0: must be at least 1"),
    "unknown mode": ({"mode": "tidy"}, "mode: 'tidy': must be one of packed, mixed, worker"),
}


@pytest.mark.parametrize(("options", "line"), BAD.values(), ids=BAD.keys())
def test_bad_arguments_are_one_line(options: dict[str, Any], line: str) -> None:
    """An argument out of its range is refused with its name, value and rule."""
    with pytest.raises(InvalidInput) as caught:
        snapshots(TEN, **options)

    assert str(caught.value) == line


def test_an_empty_workload_needs_times() -> None:
    """A workload without jobs has no first release date to space snapshots from."""
    with pytest.raises(InvalidInput, match="workload: empty: must have jobs, or times must be given"):
        snapshots(Workload(name="empty", jobs=()))
    assert snapshots(Workload(jobs=()), times=[0])[0].jobs == ()


def test_the_real_traces_fit_520_servers(whole_philly: Reading, whole_itp: Reading) -> None:
    """Both traces run on 520 servers with no job left out, and keep some of the cluster busy."""
    for workload in (whole_philly.workload, whole_itp.workload):
        for problem in snapshots(workload):
            assert problem.about is not None
            assert problem.about.source.endswith("0 larger than the cluster left out")
            assert problem.jobs
