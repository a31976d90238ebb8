"""Resizable jobs: GPUs that can be in use, cells of time, and whether shares are averages of workers."""

import pytest

from formulations.scheduling.resizing.jobs import Resizable
from gsopt.problems.scheduling import ElasticJob, Scheduling
from tests.exactness.resizing import elastic


def _jobs(gpus: int, *jobs: ElasticJob) -> Resizable:
    return Resizable.of(Scheduling(gpus=gpus, jobs=jobs, preemptive=False))


def _on(name: str, *counts: int, release: float = 0.0) -> ElasticJob:
    return ElasticJob(name=name, release=release, work=4, rates={count: float(count) for count in counts})


@pytest.mark.parametrize(
    ("jobs", "gpus"),
    [
        ((_on("a", 2, 4, 6),), 6),
        ((_on("a", 3, 5, 7),), 7),
        ((_on("a", 4), _on("b", 2, 6)), 6),
        ((_on("a", 3), _on("b", 6)), 6),
        ((_on("a", 4, 6), _on("b", 3)), 7),
    ],
)
def test_the_gpus_in_use_are_multiples_of_a_grid(jobs: tuple[ElasticJob, ...], gpus: int) -> None:
    """Of seven GPUs those are left out that no jobs together can use, and no others."""
    assert _jobs(7, *jobs).gpus == gpus


@pytest.mark.parametrize(
    ("jobs", "is_exact"),
    [
        ((elastic("a", 4, 1, 3), elastic("b", 4, 2, 4)), True),
        ((elastic("a", 4, 1, 3, size=2), elastic("b", 4, 1, 2, size=2)), True),
        ((elastic("a", 4, 1, 3), _on("b", 4)), True),
        ((elastic("a", 4, 1, 3, size=2), elastic("b", 4, 1, 2, size=3)), False),
        ((elastic("a", 4, 1, 3, size=2), _on("b", 3)), False),
    ],
)
def test_shares_are_averages_where_workers_are_alike(jobs: tuple[ElasticJob, ...], is_exact: bool) -> None:
    """All elastic jobs must have workers of the size of the grid; inelastic ones only must fit it."""
    assert _jobs(8, *jobs).is_exact is is_exact


def test_cells_are_those_that_time_can_pass() -> None:
    """There are no more jobs complete than released, all of them at times, and a date begins a period."""
    jobs = _jobs(2, _on("a", 1), _on("b", 1), _on("c", 1, release=3.0))

    assert jobs.there == (2, 3)
    assert jobs.cells == ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1))
    assert [jobs.length(period) for period in (0, 1)] == [3.0, float("inf")]
    assert jobs.before(0, 1, 1) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert jobs.before(2, 2, 1) == [(0, 1), (1, 1), (2, 1)]
