"""Shortest remaining time first, for elastic jobs: the order counts the largest allowed count."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.scenario.speed import linear_menu
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies import elastic_srtf
from tests.gsopt.simulation.scenarios import bundle

_JOBS = bundle(
    [
        Job(name="a", release_date=0, duration=12, gpus=1, menu=linear_menu(1, [1, 2, 4])),
        Job(name="b", release_date=1, duration=5, gpus=1),
        Job(name="c", release_date=1, duration=4, gpus=2, menu=linear_menu(2, [2, 4])),
    ]
)


def test_by_hand() -> None:
    """At 1 s both a and c have 2 s to go on 4 GPUs and b has 5 s, so a keeps them, then c gets them, then b."""
    run = simulate(_JOBS, elastic_srtf, cluster=4, exact=True)
    assert run.completion_times == (3, 10, 5)


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound, also when GPUs come and go."""
    drop = [CapacityChange(time=1.5, gpus=1), CapacityChange(time=9, gpus=4)]
    steady = Scenario(workload=_JOBS, cluster=Cluster.plain(4))
    unsteady = steady.model_copy(update={"capacity_changes": tuple(drop)})
    assert check_policy(elastic_srtf, [steady, unsteady]) == 4


@pytest.mark.parametrize("alpha", [0, 1.01, float("nan"), "1"])
def test_bad_alpha(alpha: Any) -> None:
    """A threshold that is no number above 0 and at most 1 is refused."""
    with pytest.raises(InvalidInput, match=r"alpha: .* must be a number above 0 and at most 1"):
        simulate(_JOBS, elastic_srtf, cluster=4, alpha=alpha)
