"""Least attained service, for elastic jobs: who has held the fewest GPU-seconds grows first."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.scenario.speed import linear_menu
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies import elastic_las
from tests.gsopt.simulation.scenarios import bundle

_JOBS = bundle(
    [
        Job(name="a", release_date=0, duration=12, gpus=1, menu=linear_menu(1, [1, 2, 4])),
        Job(name="b", release_date=1, duration=5, gpus=1),
        Job(name="c", release_date=1, duration=4, gpus=2, menu=linear_menu(2, [2, 4])),
    ]
)


def test_by_hand() -> None:
    """The newcomers b and c take 1 and 2 GPUs from a, which has held 4 GPU-seconds, until they complete."""
    run = simulate(_JOBS, elastic_las, cluster=4, exact=True)
    # a on 4 GPUs until 1 s, on 1 until c completes, on 2 until b does, then on 4
    assert run.completion_times == (6.5, 6, 5)


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound, also when GPUs come and go."""
    drop = [CapacityChange(time=1.5, gpus=1), CapacityChange(time=9, gpus=4)]
    steady = Scenario(workload=_JOBS, cluster=Cluster.plain(4))
    unsteady = steady.model_copy(update={"capacity_changes": tuple(drop)})
    assert check_policy(elastic_las, [steady, unsteady]) == 4


@pytest.mark.parametrize("alpha", [0, 1.01, float("nan"), "1"])
def test_bad_alpha(alpha: Any) -> None:
    """A threshold that is no number above 0 and at most 1 is refused."""
    with pytest.raises(InvalidInput, match=r"alpha: .* must be a number above 0 and at most 1"):
        simulate(_JOBS, elastic_las, cluster=4, alpha=alpha)
