"""Groups: the flat arrays hold what the problem says."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from formulations.allocation import exact
from formulations.allocation.groups import Groups, infeasible, solved
from gsopt.errors import Unsupported
from gsopt.problems.allocation import Allocation, ElasticJob
from gsopt.result import Status
from instances.allocation import elastic_jobs


@pytest.mark.parametrize("scaling", ["proportional", "across_servers"])
def test_items_are_those_of_the_jobs(scaling: Any) -> None:
    """Weight and value of every item are those that the problem gives, in floats and exactly."""
    problem = elastic_jobs(jobs=7, capacity=90, sizes="any", scaling=scaling, seed=1)
    groups = Groups.of(problem, exact_arithmetic=True)
    assert groups.exact is not None
    for item in range(groups.value.size):
        job, extra = problem.jobs[groups.job[item]], int(groups.extra[item])
        assert groups.weight[item] == extra * job.gpus_per_worker
        assert Fraction(groups.exact[item], groups.denominator) == job.value(extra)
        assert groups.value[item] == pytest.approx(float(job.value(extra)), rel=1e-14)


def test_extra_workers_beyond_the_capacity_are_left_out() -> None:
    """Items that do not fit alone are no items; that of no extra workers always is."""
    job = ElasticJob(name="a", min_workers=1, max_workers=9, gpus_per_worker=3, time_at_min=10)
    other = ElasticJob(name="b", min_workers=1, max_workers=2, gpus_per_worker=8, time_at_min=10)
    groups = Groups.of(Allocation(capacity=7, jobs=(job, other)))
    assert groups.extra.tolist() == [0, 1, 2, 0]


def test_capacity_is_counted_in_the_common_divisor() -> None:
    """Sizes 4, 8 and 12 are 1, 2 and 3 units of four GPUs; 23 GPUs are five of them."""
    jobs = tuple(
        ElasticJob(name=str(d), min_workers=1, max_workers=2, gpus_per_worker=d, time_at_min=1)
        for d in (4, 8, 12)
    )
    groups = Groups.of(Allocation(capacity=23, jobs=jobs))
    assert (groups.capacity, groups.size.tolist()) == (5, [1, 2, 3])


def test_no_jobs_are_no_items() -> None:
    """An instance without jobs gives empty arrays."""
    groups = Groups.of(Allocation(capacity=3, jobs=()), exact_arithmetic=True)
    assert (groups.capacity, groups.size.size, groups.first.tolist()) == (3, 0, [0])


def test_a_denominator_that_is_too_long_is_refused() -> None:
    """Tens of thousands of different worker counts have no short common denominator; the reason is given."""
    job = ElasticJob(name="a", min_workers=1, max_workers=20_000, time_at_min=1)
    problem = Allocation(capacity=19_000, jobs=(job,))
    with pytest.raises(Unsupported, match="no short common denominator"):
        Groups.of(problem, exact_arithmetic=True)
    with pytest.raises(Unsupported, match="no short common denominator"):
        exact(problem, exact_arithmetic=True)


def test_solved_reports_the_obstacle() -> None:
    """Jobs that cannot start make the result infeasible, whatever the algorithm, and it is not even called."""
    job = ElasticJob(name="a", min_workers=2, max_workers=3, time_at_min=1, queued=True)
    problem = Allocation(capacity=1, jobs=(job,))

    def never(groups: Groups) -> tuple[np.ndarray, float, str]:
        raise AssertionError(groups)

    result = solved(problem, "never", never, exact_arithmetic=False)
    assert (result.status, result.message) == (Status.INFEASIBLE, problem.obstacle)
    assert infeasible(problem, "never", 0.0).message == problem.obstacle
