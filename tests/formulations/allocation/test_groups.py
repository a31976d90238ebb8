"""Groups: the flat arrays hold what the problem says."""

from typing import Any

import numpy as np
import pytest

from formulations.allocation.groups import Found, Groups, fitting_extras, judge, solve_groups
from gsopt.core.budget import Budget
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.allocation import Allocation, AllocationSolution, ElasticJob
from instances.allocation import elastic_jobs, table_4
from tests.strategies.allocation import tiny


@pytest.mark.parametrize("scaling", ["proportional", "across_servers"])
def test_items_are_those_of_the_jobs(scaling: Any) -> None:
    """Weight, workers and value of every item are those that the problem gives."""
    problem = elastic_jobs(jobs=7, capacity=90, sizes="any", scaling=scaling, seed=1)
    groups = Groups.of(problem)
    for item in range(groups.value.size):
        job, extra = problem.jobs[groups.job[item]], int(groups.extra[item])
        assert groups.weight[item] == extra * job.gpus_per_worker
        assert groups.workers[item] == extra + job.min_workers
        assert groups.value[item] == pytest.approx(float(job.value(extra)), rel=1e-15)


def test_extra_workers_beyond_the_capacity_are_left_out() -> None:
    """Items that do not fit alone are no items; that of no extra workers always is."""
    job = ElasticJob(name="a", min_workers=1, max_workers=9, gpus_per_worker=3, time_at_min=10)
    other = ElasticJob(name="b", min_workers=1, max_workers=2, gpus_per_worker=8, time_at_min=10)
    menu = ElasticJob(name="c", min_workers=1, counts=(2, 7, 9), values=(1, 2, 3))
    groups = Groups.of(Allocation(capacity=7, jobs=(job, other, menu)))
    assert groups.extra.tolist() == [0, 1, 2, 0, 0, 2, 7]
    assert groups.value[4:].tolist() == [0, 1, 2]
    assert list(fitting_extras(menu, 1)) == []


def test_capacity_is_counted_in_the_common_divisor() -> None:
    """Sizes 4, 8 and 12 are 1, 2 and 3 units of four GPUs; 23 GPUs are five of them."""
    jobs = tuple(
        ElasticJob(name=str(d), min_workers=1, max_workers=2, gpus_per_worker=d, time_at_min=1)
        for d in (4, 8, 12)
    )
    groups = Groups.of(Allocation(capacity=23, jobs=jobs))
    assert (groups.unit, groups.capacity, groups.size.tolist()) == (4, 5, [1, 2, 3])


def test_no_jobs_are_no_items() -> None:
    """An instance without jobs gives empty arrays."""
    groups = Groups.of(Allocation(capacity=3, jobs=()))
    assert (groups.capacity, groups.size.size, groups.first.tolist()) == (3, 0, [0])
    assert groups.solution(groups.nothing) == AllocationSolution(extra={})
    assert groups.choice(AllocationSolution(extra={})).tolist() == []


@pytest.mark.parametrize("seed", range(40))
def test_choices_are_solutions(seed: int) -> None:
    """A choice becomes a solution and the same choice again, and weighs what the problem counts."""
    problem = tiny(seed)
    if problem.obstacle:
        return
    groups = Groups.of(problem)
    choice = groups.nothing + np.arange(groups.size.size) % np.diff(groups.first)
    solution = groups.solution(choice)
    assert np.array_equal(groups.choice(solution), choice)
    assert groups.used(choice) * groups.unit == problem.used_gpus(solution)


def test_the_obstacle_is_reported() -> None:
    """Jobs that cannot start make the result infeasible, whatever the algorithm, and it is not even called."""
    job = ElasticJob(name="a", min_workers=2, max_workers=3, time_at_min=1, queued=True)
    problem = Allocation(capacity=1, jobs=(job,))

    def never(*_: Any) -> Found:
        raise AssertionError

    result = solve_groups(problem, "never", never, Budget())
    assert (result.status, result.message) == (Status.INFEASIBLE, problem.obstacle)


def test_an_excess_is_a_bound_above_the_value() -> None:
    """A choice worth 50 with an excess of 36 is bounded by 86, and is no optimum."""
    groups = Groups.of(table_4())
    found = Found(np.array([1, 2]), 36, "by hand: so", StoppedBy.TIME_LIMIT)
    result = judge(groups, "test", found, Budget())
    assert (result.status, result.objective, result.bound) == (Status.FEASIBLE, 50, 86)
    assert (result.solver, result.message, result.stopped_by) == (
        "by hand",
        "by hand: so",
        StoppedBy.TIME_LIMIT,
    )


@pytest.mark.parametrize(("answer", "stops"), [(None, False), (False, False), (True, True)])
def test_the_caller_hears_of_better_choices(answer: object, stops: bool) -> None:
    """The callback gets a judged result with its bound, and only True from it stops the algorithm."""
    heard: list[Any] = []

    def tell(result: Any) -> object:
        heard.append(result)
        return answer

    def algorithm(groups: Groups, budget: Budget, hear: Any) -> Found:
        del budget
        assert hear(groups.nothing, 100) is stops
        return Found(groups.nothing, 90, "")

    result = solve_groups(table_4(), "test", algorithm, Budget(on_incumbent=tell))
    assert [(each.objective, each.bound, each.method) for each in heard] == [(0, 100, "test")]
    assert result.bound == 90
