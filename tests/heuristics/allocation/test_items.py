"""Items in floats."""

from typing import Any

import pytest

from gsopt.problems.allocation import Allocation, ElasticJob
from heuristics.allocation.items import Items
from instances.allocation import elastic_jobs
from tests.strategies.allocation import tiny


@pytest.mark.parametrize("scaling", ["proportional", "imperfect"])
@pytest.mark.parametrize("capacity", [0, 9, 1_000])
def test_items_are_those_of_the_problem(scaling: Any, capacity: int) -> None:
    """Every item that fits stands in its job's place, with the problem's own value, in floats."""
    _check(elastic_jobs(jobs=9, capacity=capacity, scaling=scaling, queued_share=0.3, seed=2))


@pytest.mark.parametrize("seed", range(60))
def test_items_of_every_magnitude(seed: int) -> None:
    """Ranges and menus, tables and times of all magnitudes are listed alike."""
    problem = tiny(seed)
    if not problem.obstacle:
        _check(problem)


def _check(problem: Allocation) -> None:
    items = Items.of(problem)
    wanted = [
        (number, extra, extra * job.gpus_per_worker, pytest.approx(float(job.value(extra)), rel=1e-14, abs=0))
        for number, job in enumerate(problem.jobs)
        for extra in job.extras
        if extra * job.gpus_per_worker <= problem.remaining
    ]
    columns = (items.job, items.extra, items.gpus, items.value)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == wanted
    counts = [sum(number == each for each, *_ in wanted) for number in range(len(problem.jobs))]
    assert (items.first[1:] - items.first[:-1]).tolist() == counts


def test_no_jobs_are_no_items() -> None:
    """An instance without jobs, or without extra workers, has no items."""
    rigid = ElasticJob(name="a", min_workers=1, max_workers=1, time_at_min=1)
    for jobs in ((), (rigid,)):
        assert Items.of(Allocation(capacity=3, jobs=jobs)).value.tolist() == []
