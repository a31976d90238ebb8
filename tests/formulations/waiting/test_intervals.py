"""Intervals of CP-SAT: the optimum with GPUs that stay."""

from fractions import Fraction
from random import Random
from typing import Any

import pytest

from formulations.waiting import intervals
from formulations.waiting.best import Best
from formulations.waiting.instance import SlottedInstance
from formulations.waiting.intervals import solve_intervals
from gsopt.core.budget import Budget
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.waiting import CellShare, Waiting
from gsopt.scenario.cluster import Cluster, Island, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.testing import check_formulation
from instances.waiting import tier_jobs
from tests.exactness import waiting as oracle


def test_brute_force_is_proven() -> None:
    """The optima of tiny instances are those of trying everything."""
    assert check_formulation(intervals, [oracle.draw(Random(seed)) for seed in range(20)]) == 20


@pytest.mark.parametrize("minimize", ["mean_jct", "makespan"])
def test_any_levels_will_do(minimize: Any) -> None:
    """In a cluster with islands a job of three GPUs takes the machine, and two of two take an island each."""
    machine = Machine(name="m", gpus=4, islands=[Island(name="i", gpus=2), Island(name="k", gpus=2)])
    cluster = Cluster(racks=[Rack(name="r", machines=[machine])])
    jobs = [Job(name=n, release_date=0, duration=10, gpus=g) for n, g in [("a", 3), ("b", 2), ("c", 2)]]
    result = intervals(Waiting(cluster=cluster, jobs=jobs, minimize=minimize))

    assert result.status is Status.OPTIMAL
    assert result.objective is not None
    assert float(result.objective) == pytest.approx({"mean_jct": 40 / 3, "makespan": 20}[minimize])


def test_the_caller_hears_of_better_schedules_and_may_stop() -> None:
    """Every incumbent is judged and better than the one before; the callback's True ends the search."""
    heard: list[Result[Any]] = []

    def stop_at_second(result: Result[Any]) -> bool:
        heard.append(result)
        return len(heard) == 2

    result = intervals(tier_jobs(jobs=8, seed=0), on_incumbent=stop_at_second)
    values = [each.objective for each in heard if each.objective is not None]

    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values) == 2
    assert result.stopped_by is StoppedBy.INTERRUPT
    assert result.objective == values[-1]


def test_no_backend_is_taken() -> None:
    """The message says that the backend had no use."""
    from gsopt.solvers.backends import Highs

    assert "intervals takes no backend" in intervals(tier_jobs(jobs=2), backend=Highs()).message


@pytest.mark.parametrize("minimize", ["mean_jct", "makespan"])
def test_times_too_different_for_its_slots_leave_a_bound_that_holds(minimize: str) -> None:
    """From the worst order of thirty years and a third of a second, the bound comes near."""
    jobs = [Job(name=str(d), release_date=1.7e9, duration=d, gpus=1) for d in (1e9, 1 / 3)]
    problem = Waiting.model_validate(
        {"cluster": Cluster.uniform(machines=1, gpus=1), "jobs": jobs, "minimize": minimize}
    )
    best = Best(SlottedInstance.of(problem), Budget(), "test")
    best.take(problem.started([CellShare(job, {0: 1}) for job in (0, 1)]))
    solve_intervals(best)
    optimum = oracle.optimum(problem)

    assert optimum * (1 - Fraction(1, 10**9)) < best.bound <= optimum == best.known_value
