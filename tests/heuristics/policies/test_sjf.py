"""Shortest job first: the shortest that fits, and no job is stopped."""

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies import sjf
from tests.gsopt.simulation.scenarios import bundle

_JOBS = bundle(
    Job(name=name, release_date=release_date, duration=duration, gpus=gpus)
    for name, release_date, duration, gpus in [
        ("a", 0, 5, 1),
        ("b", 0, 3, 2),
        ("c", 1, 4, 2),
        ("d", 2, 2, 1),
    ]
)


def test_by_hand() -> None:
    """The job of 3 s goes first, then those of 2 s and 5 s side by side, as that of 4 s needs both GPUs."""
    assert simulate(_JOBS, sjf, cluster=2).completion_times == (8, 3, 12, 5)


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound, also when GPUs come and go."""
    drop = [CapacityChange(time=1.5, gpus=1), CapacityChange(time=9, gpus=2)]
    steady = Scenario(workload=_JOBS, cluster=Cluster.plain(2))
    unsteady = steady.model_copy(update={"capacity_changes": tuple(drop)})
    assert check_policy(sjf, [steady, unsteady]) == 4
