"""The dynamic programme, against enumeration."""

import numpy as np
import pytest

from formulations.allocation import dp
from formulations.allocation.dp import best_options
from gsopt.errors import Unsupported
from gsopt.problems.allocation import Allocation, ElasticJob
from gsopt.study import load, names
from gsopt.testing import check_formulation


@pytest.mark.parametrize("exact_arithmetic", [False, True])
def test_proves_the_optimum_of_every_small_instance(exact_arithmetic: bool) -> None:
    """On every committed small instance the programme proves the optimum that enumeration finds."""
    problems = [load(name) for name in (*names("allocation/small"), *names("allocation/aryl"))]

    def method(problem: Allocation) -> object:
        return dp(problem, exact_arithmetic=exact_arithmetic)

    assert check_formulation(method, problems) == len(problems)  # type: ignore[arg-type]


def test_options_of_any_weight() -> None:
    """Options may have any rising weights, and a group may have one option only."""
    weight = np.array([0, 3, 7, 0, 0, 5])
    value = np.array([1.0, 4.0, 9.0, 2.0, 0.0, 6.0])
    assert best_options(weight, value, np.array([0, 3, 4, 6]), 8).tolist() == [1, 0, 1]


def test_values_of_any_length() -> None:
    """Integers of hundreds of digits are compared exactly."""
    large = 10**300
    value = np.array([0, large, 0, large + 1], dtype=object)
    assert best_options(np.array([0, 1, 0, 1]), value, np.array([0, 2, 4]), 1).tolist() == [0, 1]


def test_a_table_too_large_is_refused() -> None:
    """A table that memory cannot hold is refused with its size, before anything is computed."""
    jobs = tuple(
        ElasticJob(name=str(i), min_workers=1, max_workers=9, gpus_per_worker=1 + i % 2, time_at_min=1)
        for i in range(500)
    )
    with pytest.raises(Unsupported, match="500 groups by 10,000,000 GPUs"):
        dp(Allocation(capacity=10_000_000, jobs=jobs))
