"""Smallest service first: the fewest GPU-seconds that fit, and no job is stopped."""

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies import ssf
from tests.gsopt.simulation.scenarios import bundle

_JOBS = bundle(
    Job(name=name, release_date=release_date, duration=duration, gpus=gpus)
    for name, release_date, duration, gpus in [
        ("a", 0, 3, 2),
        ("b", 0, 5, 1),
        ("c", 0, 1, 1),
        ("d", 1, 4, 1),
    ]
)


def test_by_hand() -> None:
    """Jobs of 1 and 5 GPU-seconds go first, then that of 4; the shorter one of 6 waits for both GPUs."""
    assert simulate(_JOBS, ssf, cluster=2).completion_times == (8, 5, 1, 5)


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound, also when GPUs come and go."""
    drop = [CapacityChange(time=1.5, gpus=1), CapacityChange(time=9, gpus=2)]
    steady = Scenario(workload=_JOBS, cluster=Cluster.plain(2))
    unsteady = steady.model_copy(update={"capacity_changes": tuple(drop)})
    assert check_policy(ssf, [steady, unsteady]) == 4
