"""Random elastic jobs."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput
from instances.scheduling import elastic_jobs
from instances.scheduling.counts import restricted


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10_000), jobs=st.integers(1, 12), gpus=st.integers(1, 64))
def test_rates_are_concave_over_doublings(seed: int, jobs: int, gpus: int) -> None:
    """Counts are all doublings that fit; rates begin at the demand, rise, and rise ever slower."""
    for job in elastic_jobs(jobs=jobs, gpus=gpus, seed=seed).jobs:
        counts = sorted(job.rates)
        slopes = [(job.rates[high] - job.rates[low]) / (high - low) for low, high in pairwise(counts)]

        assert counts[0] in {1, 2, 4, 8}
        assert all(high == 2 * low for low, high in pairwise(counts))
        assert counts[-1] <= gpus < 2 * counts[-1]
        assert job.rates[counts[0]] == counts[0]
        assert all(slope >= 0 for slope in slopes)
        assert all(after <= before * 1.05 + 1e-9 for before, after in pairwise(slopes))  # but for rounding


def test_the_load_is_that_of_the_jobs_drawn() -> None:
    """Over the time of the arrivals, the jobs submit as much as the load says; double load, half gaps."""
    problem = elastic_jobs(jobs=4000, gpus=16, load=0.8, seed=1)
    busy = elastic_jobs(jobs=4000, gpus=16, load=1.6, seed=1)
    work = sum(job.work for job in problem.jobs)

    assert work / (problem.jobs[-1].release * 16) == pytest.approx(0.8, rel=0.05)
    assert busy.jobs[-1].release == pytest.approx(problem.jobs[-1].release / 2, rel=0.01)


def test_few_jobs_make_up_most_of_the_work() -> None:
    """The longest fifth of the jobs has more than half of the work."""
    work = sorted(job.work for job in elastic_jobs(jobs=1000, gpus=16, seed=2).jobs)

    assert sum(work[800:]) > sum(work) / 2


def test_options_change_what_they_say() -> None:
    """The jobs' demands and work are the same for every load, scaling, choice of counts and release dates."""
    kinds: list[dict[str, Any]] = [
        {},
        {"load": 0.5},
        {"scaling": "linear"},
        {"counts": "alpha"},
        {"at_once": True},
    ]
    made = [elastic_jobs(jobs=9, gpus=32, seed=7, **options) for options in kinds]
    plain, _, linear, alpha, at_once = made

    assert len({tuple((job.work, job.demand) for job in problem.jobs) for problem in made}) == 1
    assert all(rate == count for job in linear.jobs for count, rate in job.rates.items())
    assert alpha.jobs == restricted(plain, 0.75).jobs != plain.jobs
    assert {job.release for job in at_once.jobs} == {0}


BAD = {
    "jobs": (0, "must be at least 1"),
    "gpus": (0, "must be at least 1"),
    "load": (0, "must be between 1e-6 and 1e6"),
    "scaling": ("convex", "must be one of concave, linear"),
    "counts": ("some", "must be one of alpha, all"),
    "alpha": (float("nan"), "must be above 0 and at most 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_arguments_are_checked(name: str) -> None:
    """An argument out of its range is refused in one line that names it."""
    value, rule = BAD[name]
    options: dict[str, Any] = {name: value}

    with pytest.raises(InvalidInput, match=f"{name}: .*{rule}"):
        elastic_jobs(**options)
