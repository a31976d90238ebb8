"""Rolling prices: legal, and what prices say where it is known."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies import srsf
from heuristics.policies.marginal.rolling_prices import rolling_prices
from tests.gsopt.simulation.scenarios import bundle

_MENU = ((1, 1.0), (2, 1.5), (4, 2.0))


def _jobs(menu: tuple[tuple[int, float], ...] = _MENU, kind: str = "") -> list[Job]:
    return [
        Job(name=f"{kind}{i}", release_date=i, duration=2 + 5 * i % 7, gpus=1, menu=menu, gpu_type=kind)
        for i in range(4)
    ]


def test_one_gpu() -> None:
    """For jobs on one GPU prices say what is optimal: shortest remaining time first."""
    jobs = bundle(Job(name=str(i), release_date=i, duration=30 / 5**i, gpus=1) for i in range(3))
    run = simulate(jobs, rolling_prices, cluster=1, evaluations=40)
    assert run.completion_times == simulate(jobs, srsf, cluster=1).completion_times
    assert run.metrics.preemptions == 2


def test_a_job_alone_gets_what_it_can_use() -> None:
    """A job alone runs on all GPUs that make it faster."""
    job = Job(name="a", release_date=0, duration=8, gpus=1, menu=_MENU)
    assert simulate(bundle([job]), rolling_prices, cluster=8).completion_times == (4,)


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound: with types, changes of capacity and overheads."""
    machines = [Machine(name=kind, gpus=2, gpu_type=kind) for kind in ("old", "new")]
    typed = bundle([*_jobs(kind="old"), *_jobs(kind="new")[:2]])
    drop = (CapacityChange(time=1.5, gpus=0), CapacityChange(time=3, gpus=4))
    scenarios = [
        Scenario(workload=typed, cluster=Cluster(racks=[Rack(name="r", machines=machines)])),
        Scenario(
            workload=bundle(_jobs()),
            cluster=Cluster.plain(4),
            capacity_changes=drop,
            overheads={"": Overhead(stop=0.5, resize=0.25)},
        ),
    ]
    assert check_policy(rolling_prices, scenarios, exact=False, evaluations=4, cells=40) == 2
    assert check_policy(rolling_prices, scenarios[1:], evaluations=2, cells=40) == 2


@pytest.mark.parametrize("options", [{"evaluations": 0}, {"evaluations": 1.5}, {"cells": 39}])
def test_bad_options(options: dict[str, Any]) -> None:
    """No evaluations, and fewer cells than there are to begin with, are refused."""
    with pytest.raises(InvalidInput, match=f"^{next(iter(options))}: .* must be an integer, at least"):
        simulate(bundle(_jobs()), rolling_prices, cluster=4, **options)


def test_a_cluster_that_shrinks_below_a_demand() -> None:
    """A job that does not fit for a while waits, and the others run."""
    jobs = [Job(name=name, release_date=0, duration=10, gpus=gpus) for name, gpus in [("a", 4), ("b", 1)]]
    changes = [CapacityChange(time=5, gpus=1), CapacityChange(time=60, gpus=4)]
    run = simulate(bundle(jobs), rolling_prices, cluster=4, capacity_changes=changes)
    assert run.completion_times == (70.0, 10.0)
