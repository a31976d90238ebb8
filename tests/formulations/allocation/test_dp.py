"""The dynamic programme, against enumeration."""

import numpy as np
import pytest

from formulations.allocation import dp
from formulations.allocation.dp import best_options, refuse_large
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.result import StoppedBy
from gsopt.evaluation.catalogue import load, names
from gsopt.problems.allocation import Allocation, ElasticJob
from gsopt.testing import check_formulation
from instances.allocation import elastic_jobs
from tests.strategies.allocation import Impatient


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On every committed small instance the programme proves the optimum that enumeration finds."""
    problems = [load(name) for name in (*names("allocation/small"), *names("allocation/aryl"))]
    assert check_formulation(dp, problems) == len(problems)


def test_options_of_any_weight() -> None:
    """Options may have any rising weights, and a group may have one option only."""
    weight = np.array([0, 3, 7, 0, 0, 5])
    value = np.array([1, 4, 9, 2, 0, 6])
    options = best_options(weight, value, np.array([0, 3, 4, 6]), 8, Budget())
    assert options is not None
    assert options.tolist() == [1, 0, 1]


def test_values_of_any_length() -> None:
    """Integers of hundreds of digits are compared exactly."""
    large = 10**300
    value = np.array([0, large, 0, large + 1], dtype=object)
    options = best_options(np.array([0, 1, 0, 1]), value, np.array([0, 2, 4]), 1, Budget())
    assert options is not None
    assert options.tolist() == [0, 1]


def test_the_table_is_no_wider_than_the_largest_choice() -> None:
    """GPUs that nobody can use are no cells: two jobs of three workers need nine of ten million."""
    jobs = tuple(
        ElasticJob(name=str(d), min_workers=1, max_workers=4, gpus_per_worker=d, time_at_min=1) for d in (1, 2)
    )
    assert dp(Allocation(capacity=10_000_000, jobs=jobs)).message == "dp: table of 2 jobs by 9 GPUs"


def test_a_table_too_large_is_refused() -> None:
    """A table that memory cannot hold is refused with its size, before anything is computed."""
    jobs = tuple(
        ElasticJob(name=str(i), min_workers=1, counts=(10_000, 10_000 + i), time_at_min=1)
        for i in range(1, 1_001)
    )
    with pytest.raises(Unsupported, match="1,000 jobs by 9,000,000 GPUs"):
        dp(Allocation(capacity=9_000_000, jobs=jobs), budget=Impatient(looks=[0]))


def test_long_numbers_take_longer() -> None:
    """A table that is filled in seconds with machine integers may be too long to fill with others."""
    first = np.array([0, 1_000, 2_000])
    refuse_large(first, 200_000)
    with pytest.raises(Unsupported, match="2 jobs by 200,000 GPUs"):
        refuse_large(first, 200_000, long=True)


@pytest.mark.parametrize("looks", [0, 3, 20])
def test_without_time_the_price_answers(looks: int) -> None:
    """Out of time in the middle of the table: the choice at the best price, and its bound."""
    problem = elastic_jobs(jobs=50, capacity=256, seed=1)
    best = dp(problem).objective
    result = dp(problem, budget=Impatient(looks=[looks]))
    assert result.objective is not None
    assert result.bound is not None
    assert best is not None
    assert result.objective <= best <= result.bound
    assert result.stopped_by is StoppedBy.TIME_LIMIT
