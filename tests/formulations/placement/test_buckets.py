"""Buckets: optimal for divisible sizes, proven by counting, settled by column generation elsewhere."""

from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.placement import buckets, patterns
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status
from gsopt.problems.placement import Placement, Resources, Server, Workers
from instances.placement import elastic, vectors, whole_gpus
from tests.effort import cases
from tests.strategies.placement import committed, gpu_line


@given(st.lists(st.sampled_from([1, 2, 4, 8]), max_size=60))
@settings(deadline=None, max_examples=cases(60))
def test_powers_of_two_need_the_sum_over_eight(sizes: list[int]) -> None:
    """With powers of two on servers of 8 the optimum is the sum over 8, rounded up, proven by counting."""
    result = buckets(gpu_line(*sizes))

    assert result.status is Status.OPTIMAL
    assert result.objective == result.bound == ceil(sum(sizes) / 8)
    assert result.solver == ""


@pytest.mark.parametrize("seed", range(5))
def test_thousands_of_workers(seed: int) -> None:
    """3,000 workers of powers of two need the sum over 8, rounded up; of any size they are proven as well."""
    powers = whole_gpus(workers=3000, seed=seed)
    total = sum(line.demand.gpu * line.count for line in powers.workers)

    assert buckets(powers).objective == ceil(total / 8)
    assert buckets(whole_gpus(workers=3000, powers_of_two=False, seed=seed)).status is Status.OPTIMAL


@given(st.lists(st.integers(1, 8), max_size=14), st.integers(0, 3))
@settings(deadline=None, max_examples=40)
def test_any_sizes_equal_the_pattern_model(sizes: list[int], used: int) -> None:
    """Sizes from 1 to 8, some servers partly used: the value is that of the pattern model."""
    servers = (
        Server(name="old", count=2, capacity=Resources(gpu=8), used=Resources(gpu=used)),
        Server(name="small", count=2, capacity=Resources(gpu=4)),
        Server(name="new", count=14, capacity=Resources(gpu=8)),
    )
    problem = Placement(servers=servers, workers=gpu_line(*sizes).workers)

    assert buckets(problem).objective == patterns(problem).objective


def test_six_items_are_settled_by_a_solver() -> None:
    """{4, 3, 3, 2, 2, 2} is where counting does not prove best fit, and the optimum of 2 is found."""
    result = buckets(committed("small/six-items"))

    assert (result.objective, result.status, result.method) == (2, Status.OPTIMAL, "buckets")
    assert result.solver == "highs"


def test_too_few_gpus_are_counted() -> None:
    """More GPUs asked for than there are is infeasible, proven by counting."""
    result = buckets(gpu_line(8, 8, 8, servers=2))

    assert (result.status, result.message) == (Status.INFEASIBLE, "there are not enough GPUs")


def test_lines_of_several_workers_may_span_servers() -> None:
    """A line of 5 workers of 3 GPUs stands on three servers, two on each at most."""
    line = Workers(job="a", count=5, demand=Resources(gpu=3))
    problem = Placement(servers=gpu_line(1, servers=4).servers, workers=(line,))
    result = buckets(problem)

    assert result.solution is not None
    assert sorted(entry.number for entry in result.solution.placed) == [1, 2, 2]


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (vectors(types=2, workers=4), "workers need more than GPUs"),
        (elastic(jobs=2), "it minimizes servers, not preferences"),
        (vectors(types=2, workers=4, minimize="fragmentation"), "it minimizes servers, not fragmentation"),
        (committed("small/whole-jobs"), "jobs that are not split have two to choose from"),
    ],
    ids=["cpu", "preferences", "fragmentation", "whole jobs"],
)
def test_other_problems_are_refused(problem: Placement, reason: str) -> None:
    """What needs more than counting GPUs is refused with the reason."""
    with pytest.raises(Unsupported, match=reason):
        buckets(problem)
