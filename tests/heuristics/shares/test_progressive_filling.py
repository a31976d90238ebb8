"""A little more for whoever is worst off."""

import pytest

from formulations.shares import exact
from gsopt.core.errors import InvalidInput
from gsopt.problems.shares import Criterion, Shares, TypedJob
from heuristics.shares import isolated, progressive_filling
from instances.shares import typed_jobs
from tests.strategies.shares import alike


def test_levels_rise_together() -> None:
    """On one type levels end within a part of each other, and the water level is met."""
    result = progressive_filling(alike({"weight": 3.0}, {}, gpus=1), parts=1000)
    assert float(result.objective or 0) == pytest.approx(0.25, rel=0.01)


@pytest.mark.parametrize("criterion", ["max_min", "finish_time", "makespan", "fifo"])
def test_it_is_better_than_isolated_shares_and_worse_than_the_best(criterion: Criterion) -> None:
    """Over ten instances it is on average between isolated shares and the optimum."""
    found = [0.0, 0.0, 0.0]
    for seed in range(10):
        problem = typed_jobs(jobs=12, criterion=criterion, seed=seed)
        best = float(exact(problem).objective or 0)
        for place, method in enumerate((isolated, progressive_filling)):
            found[place] += abs(float(method(problem).objective or 0) / best - 1)
    assert found[1] < found[0]


def test_parts_are_checked() -> None:
    """There is at least one part and no more than ten thousand."""
    for parts in (0, 10_001):
        with pytest.raises(InvalidInput, match=f"parts: {parts}: must be between 1 and 10,000"):
            progressive_filling(alike({}), parts=parts)


def test_a_job_without_time_is_no_solution_where_times_count() -> None:
    """GPUs that are gone before all jobs have some are no solution by completion times, and one by rates."""
    jobs = [TypedJob(name=f"j{each}", throughputs={"v100": 1.0}, steps=9.0) for each in range(150)]
    problem = Shares(gpus={"v100": 1}, jobs=jobs, criterion="makespan")
    assert progressive_filling(problem).message == "jobs without time would never end"
    assert progressive_filling(problem.model_copy(update={"criterion": "max_min"})).objective == 0
