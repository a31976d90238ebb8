"""Bundling, against the dynamic programme and enumeration."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations.allocation import bundling, dp
from formulations.allocation.bundling import bundle, bundling_message, divide_each_other, step_sizes
from formulations.allocation.groups import Groups
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status, StoppedBy
from gsopt.evaluation.catalogue import load, names
from gsopt.problems.allocation import Allocation, ElasticJob
from gsopt.testing import check_formulation
from instances.allocation import elastic_jobs
from tests.effort import cases
from tests.strategies.allocation import Impatient


@st.composite
def divisible(draw: st.DrawFn) -> Allocation:
    """Draw jobs of steps that divide each other, with proportional speed or concave tables full of ties."""
    sizes = draw(st.sampled_from([(1,), (3,), (1, 2, 4, 8), (1, 3, 6), (2, 6, 12), (1, 5), (4, 8, 24)]))
    unit = draw(st.sampled_from([1.0, 0.1, 1e-9, 1e9]))
    jobs = []
    for index in range(draw(st.integers(0, 8))):
        least, more = draw(st.integers(1, 4)), draw(st.integers(0, 5))
        gains = sorted(draw(st.lists(st.integers(-3, 6), min_size=more, max_size=more)))[::-1]
        table = tuple(float(sum(gains[: w + 1])) * unit for w in range(more))
        fields: dict[str, Any] = {"values": table} if unit in (1.0, 1e9) else {}
        if not fields or draw(st.booleans()):
            fields = {"time_at_min": draw(st.integers(0, 60)) * unit}
        size = draw(st.sampled_from(sizes))
        if draw(st.booleans()) and "values" in fields:  # one worker of several GPUs, or several of one GPU
            fields |= {"counts": tuple(size * w for w in range(1, more + 1))}
        else:
            fields |= {"max_workers": least + more, "gpus_per_worker": size}
        jobs.append(ElasticJob(name=f"j{index}", min_workers=least, **fields))
    return Allocation(capacity=draw(st.integers(0, 60)), jobs=tuple(jobs))


def test_proves_the_optimum_of_every_small_instance_it_supports() -> None:
    """On the committed small instances with divisible sizes and concave values the optimum is proven."""
    problems = [load(name) for name in (*names("allocation/small"), *names("allocation/aryl"))]
    assert check_formulation(bundling, problems) >= 12


@given(divisible())
@settings(deadline=None, max_examples=cases(300))
def test_equals_the_dynamic_programme_exactly(problem: Allocation) -> None:
    """Where it applies, value and bound are those of the dynamic programme, as exact numbers."""
    result = bundling(problem)
    assert result.objective == result.bound == dp(problem).objective
    assert result.status is Status.OPTIMAL


def test_equals_the_dynamic_programme_at_scale() -> None:
    """With hundreds of jobs the optimum is found, and the message names the sizes."""
    problem = elastic_jobs(jobs=300, capacity=1_001, seed=5)
    result = bundling(problem)
    assert result.objective == result.bound == dp(problem).objective
    assert result.message == "bundling: steps of 1, 2, 4, 8 GPUs, each saving less"


def test_the_message_counts_gpus() -> None:
    """Sizes of 4 and 8 GPUs are called that, though they are counted in units of four."""
    jobs = tuple(
        ElasticJob(name=str(d), min_workers=1, max_workers=3, gpus_per_worker=d, time_at_min=1) for d in (4, 8)
    )
    groups = Groups.of(Allocation(capacity=23, jobs=jobs))
    sizes = step_sizes(groups.first, groups.weight)
    assert (sizes, bundling_message(groups, sizes)) == (
        [1, 2],
        "bundling: steps of 4, 8 GPUs, each saving less",
    )


@pytest.mark.parametrize(
    ("jobs", "reason"),
    [
        (({"gpus_per_worker": 2}, {"gpus_per_worker": 3}), "must divide each other, not 2, 3"),
        (({"values": (1.0, 3.0)},), "more than the one before"),
        (({"values": (0.0, 1e-9)},), "more than the one before"),
        (({"values": (1e9, 2000000000.0000002)},), "more than the one before"),
        (({"max_workers": None, "counts": (1, 3)},), "must be equally far apart"),
        (({"max_workers": None, "counts": (2, 4)}, {"gpus_per_worker": 3}), "must divide each other, not 2, 3"),
    ],
)
def test_refuses_what_it_cannot_solve(jobs: tuple[dict[str, Any], ...], reason: str) -> None:
    """Steps that do not divide each other, differ within a job, or save ever more are refused by name."""
    made = tuple(
        ElasticJob(**{"name": str(i), "min_workers": 1, "max_workers": 3, "time_at_min": 9.0, **fields})
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


def test_first_options_that_weigh_something_are_paid() -> None:
    """Of groups that begin at weights 2 and 1, a capacity of 5 leaves 2 units for the steps."""
    weight, value = np.array([2, 3, 4, 1, 2]), np.array([10, 17, 22, 0, 6])
    assert bundle(5, np.array([0, 3, 5]), weight, value).tolist() == [1, 4]


def test_without_time_the_price_answers() -> None:
    """Out of time before the values are exact: the choice at the best price, and its bound."""
    problem = elastic_jobs(jobs=50, capacity=256, seed=1)
    best = bundling(problem).objective
    result = bundling(problem, budget=Impatient(looks=[0]))
    assert result.objective is not None
    assert result.bound is not None
    assert best is not None
    assert result.objective <= best <= result.bound
    assert result.stopped_by is StoppedBy.TIME_LIMIT


def test_divisibility() -> None:
    """One size, or none, always divide each other; 4 and 6 do not."""
    assert [divide_each_other(sizes) for sizes in ([], [5], [4, 6])] == [True, True, False]
