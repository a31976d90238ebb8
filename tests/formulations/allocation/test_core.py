"""The core method, against the dynamic programme and enumeration."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.allocation import core, dp
from gsopt.problems.allocation import Allocation, ElasticJob
from gsopt.result import Status
from gsopt.study import load, names
from gsopt.testing import brute_force, check_formulation
from instances.allocation import elastic_jobs


@st.composite
def anything(draw: st.DrawFn) -> Allocation:
    """Draw jobs of any sizes with any tables, many of them with equal values per GPU."""
    jobs = []
    for index in range(draw(st.integers(0, 8))):
        most = draw(st.integers(1, 6))
        table = draw(st.lists(st.integers(-4, 24), min_size=most - 1, max_size=most - 1))
        worth: dict[str, Any] = draw(
            st.sampled_from([{"values": tuple(table)}, {"time_at_min": draw(st.integers(0, 60)) / 4}])
        )
        size = draw(st.integers(1, 7))
        jobs.append(
            ElasticJob(name=f"j{index}", min_workers=1, max_workers=most, gpus_per_worker=size, **worth)
        )
    return Allocation(capacity=draw(st.integers(0, 50)), jobs=tuple(jobs))


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On every committed small instance the core proves the optimum that enumeration finds."""
    problems = [load(name) for name in (*names("allocation/small"), *names("allocation/aryl"))]
    assert check_formulation(core, problems) == len(problems)


@given(anything())
@settings(deadline=None, max_examples=300)
def test_equals_the_dynamic_programme_exactly(problem: Allocation) -> None:
    """Value and bound are those of the dynamic programme, as exact numbers, whatever the tables."""
    result = core(problem, exact_arithmetic=True)
    assert result.objective == result.bound == dp(problem, exact_arithmetic=True).objective
    assert core(problem).objective == result.objective


@pytest.mark.parametrize("scaling", ["proportional", "imperfect", "across_servers"])
def test_equals_the_dynamic_programme_at_scale(scaling: Any) -> None:
    """With hundreds of jobs of any sizes floats, exact arithmetic and the full table give one optimum."""
    problem = elastic_jobs(jobs=300, capacity=1_003, sizes="any", scaling=scaling, seed=8)
    certified = core(problem, exact_arithmetic=True)
    assert (certified.status, certified.bound) == (Status.OPTIMAL, certified.objective)
    assert core(problem).objective == dp(problem).objective == certified.objective


def test_items_of_equal_density_stay_in_the_core() -> None:
    """Where every item is worth its weight the price decides nothing, and the result is still the optimum."""
    jobs = tuple(
        ElasticJob(
            name=str(d),
            min_workers=1,
            max_workers=4,
            gpus_per_worker=d,
            values=tuple(float(d * w) for w in (1, 2, 3)),
        )
        for d in (6, 10, 15, 21)
    )
    result = core(Allocation(capacity=29, jobs=jobs))
    assert result.objective == dp(Allocation(capacity=29, jobs=jobs)).objective == 28


def test_everything_fits() -> None:
    """With GPUs for all, every job gets what is best for it, and no price is charged."""
    jobs = (
        ElasticJob(name="a", min_workers=1, max_workers=4, values=(3, 9, 7)),
        ElasticJob(name="b", min_workers=2, max_workers=6, gpus_per_worker=3, time_at_min=60),
    )
    result = core(Allocation(capacity=100, jobs=jobs))
    assert result.solution is not None
    assert (result.solution.extra, result.message) == (
        {"a": 2, "b": 4},
        "core: 0 of 2 jobs undecided at the best price per GPU",
    )


def test_exact_arithmetic_sees_what_floats_cannot() -> None:
    """One float more than three tenths is better than 0.1 and 0.2, by less than floats can add up."""
    jobs = (
        ElasticJob(name="a", min_workers=1, max_workers=3, values=(0.1, 0.2)),
        ElasticJob(name="b", min_workers=1, max_workers=4, values=(0.1, 0.2, 0.3)),
    )
    problem = Allocation(capacity=3, jobs=jobs)
    result = core(problem, exact_arithmetic=True)
    best = brute_force(problem)
    assert best is not None
    assert result.objective == result.bound == best[0]
    assert core(problem).status is Status.OPTIMAL
