"""Bundling, against the dynamic programme and enumeration."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.allocation import bundling, dp
from formulations.allocation.bundling import divide_each_other
from gsopt.errors import Unsupported
from gsopt.problems.allocation import Allocation, ElasticJob
from gsopt.result import Status
from gsopt.study import load, names
from gsopt.testing import check_formulation
from instances.allocation import elastic_jobs


@st.composite
def divisible(draw: st.DrawFn) -> Allocation:
    """Draw jobs of sizes that divide each other, with proportional speed or concave tables full of ties."""
    sizes = draw(st.sampled_from([(1,), (3,), (1, 2, 4, 8), (1, 3, 6), (2, 6, 12), (1, 5), (4, 8, 24)]))
    jobs = []
    for index in range(draw(st.integers(0, 8))):
        least = draw(st.integers(1, 4))
        most = least + draw(st.integers(0, 5))
        gains = sorted(draw(st.lists(st.integers(-3, 6), min_size=most - least, max_size=most - least)))[::-1]
        table = tuple(float(sum(gains[: w + 1])) for w in range(most - least))
        worth: dict[str, Any] = draw(
            st.sampled_from([{"values": table}, {"time_at_min": draw(st.integers(0, 60))}])
        )
        size = draw(st.sampled_from(sizes))
        jobs.append(
            ElasticJob(name=f"j{index}", min_workers=least, max_workers=most, gpus_per_worker=size, **worth)
        )
    return Allocation(capacity=draw(st.integers(0, 60)), jobs=tuple(jobs))


def test_proves_the_optimum_of_every_small_instance_it_supports() -> None:
    """On the committed small instances with divisible sizes and concave values the optimum is proven."""
    problems = [load(name) for name in (*names("allocation/small"), *names("allocation/aryl"))]
    assert check_formulation(bundling, problems) >= 12


@given(divisible())
@settings(deadline=None, max_examples=300)
def test_equals_the_dynamic_programme_exactly(problem: Allocation) -> None:
    """Where it applies, value and bound are those of the dynamic programme, as exact numbers."""
    result = bundling(problem, exact_arithmetic=True)
    assert result.objective == result.bound == dp(problem, exact_arithmetic=True).objective
    assert bundling(problem).objective == result.objective


def test_equals_the_dynamic_programme_at_scale() -> None:
    """With hundreds of jobs the float version finds the exact optimum, and the message names the sizes."""
    problem = elastic_jobs(jobs=300, capacity=1_001, seed=5)
    result = bundling(problem)
    assert result.objective == bundling(problem, exact_arithmetic=True).bound
    assert result.objective == dp(problem).objective
    assert result.message == "bundling: worker sizes 1, 2, 4, 8, concave values"


@pytest.mark.parametrize(
    ("jobs", "reason"),
    [
        (({"gpus_per_worker": 2}, {"gpus_per_worker": 3}), "must divide each other, not 2, 3"),
        (({"values": (1.0, 3.0)},), "worth more than the one before"),
        (({"values": (0.0, 1e-9)},), "worth more than the one before"),
    ],
)
def test_refuses_what_it_cannot_solve(jobs: tuple[dict[str, Any], ...], reason: str) -> None:
    """Sizes that do not divide each other and tables that are not concave are refused with the reason."""
    made = tuple(
        ElasticJob(name=str(i), min_workers=1, max_workers=3, **{"time_at_min": 9.0, **fields})
        for i, fields in enumerate(jobs)
    )
    with pytest.raises(Unsupported, match=reason):
        bundling(Allocation(capacity=50, jobs=made))


def test_sizes_of_inelastic_jobs_do_not_matter() -> None:
    """A job without extra workers, or whose workers do not fit, does not make sizes indivisible."""
    inelastic = ElasticJob(name="a", min_workers=1, max_workers=1, gpus_per_worker=3, time_at_min=9)
    huge = ElasticJob(name="b", min_workers=1, max_workers=2, gpus_per_worker=7, time_at_min=9)
    elastic = ElasticJob(name="c", min_workers=1, max_workers=2, gpus_per_worker=2, time_at_min=10)
    result = bundling(Allocation(capacity=6, jobs=(inelastic, huge, elastic)))
    assert (result.status, result.objective) == (Status.OPTIMAL, 5)


def test_losses_are_cut() -> None:
    """A worker that costs time is not taken though GPUs are left."""
    job = ElasticJob(name="a", min_workers=1, max_workers=5, values=(4, 5, 5, 3))
    result = bundling(Allocation(capacity=9, jobs=(job,)))
    assert result.solution is not None
    assert (result.objective, result.solution.extra) == (5, {"a": 2})


def test_divisibility() -> None:
    """One size, or none, always divide each other; 4 and 6 do not."""
    assert [divide_each_other(sizes) for sizes in ([], [5], [4, 6])] == [True, True, False]
