"""Shortest remaining service first: GPU-seconds count, not seconds."""

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies import srsf
from tests.gsopt.simulation.scenarios import bundle

_JOBS = bundle(
    Job(name=name, release_date=release_date, duration=duration, gpus=gpus)
    for name, release_date, duration, gpus in [
        ("a", 0, 6, 1),
        ("b", 1, 4, 2),
        ("c", 2, 4, 1),
        ("d", 3, 1, 2),
    ]
)


def test_by_hand() -> None:
    """The shorter job of 8 GPU-seconds does not stop that of 5; a newcomer of 2 GPU-seconds stops two jobs."""
    run = simulate(_JOBS, srsf, cluster=2)
    # a runs 0-3 and c 2-3, d stops both until 4; a and c have 3 s left, then b has both GPUs
    assert run.completion_times == (7, 11, 7, 4)
    assert run.metrics.preemptions == 2


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound, also when GPUs come and go."""
    drop = [CapacityChange(time=1.5, gpus=1), CapacityChange(time=9, gpus=2)]
    steady = Scenario(workload=_JOBS, cluster=Cluster.plain(2))
    unsteady = steady.model_copy(update={"capacity_changes": tuple(drop)})
    assert check_policy(srsf, [steady, unsteady]) == 4
