"""Skew consolidation: skewed models wait for ever, others never."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import TIER_PENALTIES, Speed
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies import skew_consolidation
from heuristics.policies.skew_consolidation import SKEWED
from tests.gsopt.simulation.scenarios import bundle

RACKS = Cluster.uniform(racks=2, machines=1, gpus=3)


def made(*sizes: tuple[float, float, int], model: str = "") -> Workload:
    """Make jobs of (release date, duration, GPUs), the last one of a model."""
    return bundle(
        Job(name=f"j{i}", release_date=r, duration=d, gpus=g, model=model if i == len(sizes) - 1 else "")
        for i, (r, d, g) in enumerate(sizes)
    )


@pytest.mark.parametrize("model", TIER_PENALTIES)
def test_only_skewed_models_wait(model: str) -> None:
    """Of the models of Table I those of high skew wait for a machine, the others take the network."""
    run = simulate(made((0, 90, 2), (0, 50, 2), (0, 1, 2), model=model), skew_consolidation, cluster=RACKS)
    assert run.start_times[2] == (50 if model in SKEWED else 0)


def test_which_models_are_skewed_is_an_option() -> None:
    """Others may be consolidated instead; a job that fits no machine does not wait for one."""
    jobs = made((0, 90, 2), (0, 50, 2), (0, 1, 2), model="vgg11")
    assert simulate(jobs, skew_consolidation, cluster=RACKS, skewed=["bert-large"]).start_times[2] == 0
    assert simulate(made((0, 9, 4), model="vgg11"), skew_consolidation, cluster=RACKS).start_times == (0,)


def test_who_has_had_more_service_comes_later() -> None:
    """When a lease ends, a job beyond a threshold makes room for one in a higher queue, and for no other."""
    one = Cluster.uniform(machines=1, gpus=1)
    jobs = made((0, 8, 1), (1, 3, 1))
    fallen = simulate(jobs, skew_consolidation, cluster=one, lease=2, thresholds=[2])
    assert fallen.start_times == (0, 2)
    assert fallen.completion_times == (10, 11)  # when both have fallen the older one goes first again
    assert simulate(jobs, skew_consolidation, cluster=one, lease=2).start_times == (0, 8)


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound."""
    workload = made((0, 5, 2), (0, 9, 4), (1, 6, 3), (1, 2, 1), (2, 8, 5), (9, 3, 2), model="vgg11")
    speed = Speed(tiers=TIER_PENALTIES)
    calm = Scenario(workload=workload, cluster=Cluster.uniform(racks=2, machines=2, gpus=2), speed=speed)
    changes = (CapacityChange(time=3, gpus=3), CapacityChange(time=12, gpus=8))
    rough = calm.model_copy(
        update={"capacity_changes": changes, "overheads": {"": Overhead(start=0.5, stop=1)}}
    )
    assert check_policy(skew_consolidation, [calm, rough], lease=3, thresholds=[4, 20]) == 4


@pytest.mark.parametrize(("option", "value"), [("thresholds", [2, 1]), ("lease", 0), ("placement", "x")])
def test_bad_options(option: str, value: Any) -> None:
    """An option out of its range is refused in one line that names it."""
    with pytest.raises(InvalidInput, match=f"^{option}: "):
        simulate(made((0, 1, 1)), skew_consolidation, cluster=RACKS, **{option: value})
