"""First in, first out: the first job that does not fit blocks the others."""

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies import fifo
from tests.gsopt.simulation.scenarios import bundle

_JOBS = bundle(
    Job(name=name, release_date=release_date, duration=duration, gpus=gpus)
    for name, release_date, duration, gpus in [
        ("a", 0, 4, 1),
        ("b", 1, 2, 2),
        ("c", 2, 1, 1),
    ]
)


def test_by_hand() -> None:
    """On 2 GPUs the second job waits for both, and the third, which would fit at 2 s, waits behind it."""
    assert simulate(_JOBS, fifo, cluster=2).completion_times == (4, 6, 7)


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound, also when GPUs come and go."""
    drop = [CapacityChange(time=1.5, gpus=1), CapacityChange(time=9, gpus=2)]
    steady = Scenario(workload=_JOBS, cluster=Cluster.plain(2))
    unsteady = steady.model_copy(update={"capacity_changes": tuple(drop)})
    assert check_policy(fifo, [steady, unsteady]) == 4
