"""Shortest remaining time first: a newcomer that needs less time takes the GPUs."""

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies import srtf
from tests.gsopt.simulation.scenarios import bundle

_JOBS = bundle(
    Job(name=name, release_date=release_date, duration=duration, gpus=gpus)
    for name, release_date, duration, gpus in [
        ("a", 0, 6, 2),
        ("b", 2, 3, 1),
        ("c", 3, 1, 1),
        ("d", 4, 2, 2),
    ]
)


def test_by_hand() -> None:
    """A newcomer of 3 s stops the job that has 4 s left; one of 2 s does not stop the job that has 1 s left."""
    run = simulate(_JOBS, srtf, cluster=2)
    # b runs 2-5, c beside it 3-4; at 4 b has 1 s left, d needs both GPUs: d runs 5-7, then a its last 4 s
    assert run.completion_times == (11, 5, 4, 7)
    assert run.metrics.preemptions == 1


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound, also when GPUs come and go."""
    drop = [CapacityChange(time=1.5, gpus=1), CapacityChange(time=9, gpus=2)]
    steady = Scenario(workload=_JOBS, cluster=Cluster.plain(2))
    unsteady = steady.model_copy(update={"capacity_changes": tuple(drop)})
    assert check_policy(srtf, [steady, unsteady]) == 4
