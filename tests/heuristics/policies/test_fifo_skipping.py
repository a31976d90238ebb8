"""First in, first out, where a job that does not fit is skipped."""

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies import fifo_skipping
from tests.gsopt.simulation.scenarios import bundle

_JOBS = bundle(
    Job(name=name, release_date=release_date, duration=duration, gpus=gpus)
    for name, release_date, duration, gpus in [
        ("a", 0, 4, 1),
        ("b", 1, 2, 2),
        ("c", 2, 1, 1),
        ("d", 2, 5, 1),
    ]
)


def test_by_hand() -> None:
    """On 2 GPUs the third and the fourth job overtake the second, which waits for both GPUs until 8 s."""
    assert simulate(_JOBS, fifo_skipping, cluster=2).completion_times == (4, 10, 3, 8)


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound, also when GPUs come and go."""
    drop = [CapacityChange(time=1.5, gpus=1), CapacityChange(time=9, gpus=2)]
    steady = Scenario(workload=_JOBS, cluster=Cluster.plain(2))
    unsteady = steady.model_copy(update={"capacity_changes": tuple(drop)})
    assert check_policy(fifo_skipping, [steady, unsteady]) == 4
