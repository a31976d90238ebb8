"""The exact method: the relaxation for the mean, intervals for the makespan and for what is left open."""

import sys
from fractions import Fraction
from random import Random

import pytest

import gsopt
from formulations.waiting import exact
from formulations.waiting.best import Best
from formulations.waiting.instance import SlottedInstance
from formulations.waiting.intervals import solve_intervals
from formulations.waiting.listing import search_lists
from gsopt.core.budget import Budget
from gsopt.core.result import Status
from gsopt.problems.waiting import Waiting
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.testing import check_formulation
from instances.waiting import tier_jobs
from tests.exactness import waiting as oracle


def test_brute_force_is_proven() -> None:
    """The optima of tiny instances are those of trying everything."""
    assert check_formulation(exact, [oracle.draw(Random(seed)) for seed in range(20, 30)]) == 10


def test_intervals_prove_what_the_relaxation_leaves_open() -> None:
    """Where no GPUs are found for the relaxation's schedule, its bound goes into the proof."""
    best = Best(SlottedInstance.of(tier_jobs(jobs=5, seed=21, most=1.5)), Budget(), "test")
    search_lists(best)
    best.raise_bound(Fraction(51, 5))
    assert best.finished is None

    solve_intervals(best)

    assert best.value == best.bound == Fraction(53, 5)


@pytest.mark.parametrize("name", ["batch-mean-jct-j04", "batch-makespan-j04", "wait-for-a-machine"])
def test_without_cp_sat_the_relaxation_proves_what_it_can(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With HiGHS alone small instances are proven too."""
    monkeypatch.setattr(sys.modules["formulations.waiting.exact"], "find_spec", lambda _package: None)
    problem = gsopt.load(f"waiting/small/{name}")
    assert isinstance(problem, Waiting)
    result = exact(problem)

    assert result.status is Status.OPTIMAL
    assert problem.about is not None
    assert result.objective is not None
    assert float(result.objective) == problem.about.objective
    assert result.message != "intervals"


def test_ten_jobs_of_least_makespan() -> None:
    """Ten jobs on 16 GPUs are proven."""
    result = exact(tier_jobs(jobs=10, seed=4, minimize="makespan"))

    assert result.status is Status.OPTIMAL


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("minimize", ["mean_jct", "makespan"])
def test_magnitudes(scale: float, minimize: str) -> None:
    """Run times of 17 digits at any magnitude, released at one moment of today, are proven to rounding."""
    release = 1.7e9 if scale >= 1 else 0.0
    jobs = [
        Job(name=str(i), release_date=release, duration=scale * (1 + i / 7), gpus=2, model="bert-large")
        for i in range(3)
    ]
    problem = Waiting.model_validate(
        {"cluster": Cluster.uniform(racks=2, machines=1, gpus=3), "jobs": jobs, "minimize": minimize}
    )
    result = exact(problem)

    assert result.status is Status.OPTIMAL


def test_without_time_there_is_a_list_and_a_bound() -> None:
    """A budget that has passed leaves a schedule and a bound all the same."""
    result = exact(tier_jobs(jobs=8, seed=0), time_limit=0.0)

    assert result.status is Status.FEASIBLE
    assert result.bound is not None
    assert result.bound > 0
