"""Least attained service: the jobs that have held the fewest GPU-seconds run."""

from math import inf, nan
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies import las
from tests.gsopt.simulation.scenarios import bundle

_JOBS = bundle(
    Job(name=name, release_date=release_date, duration=duration, gpus=gpus)
    for name, release_date, duration, gpus in [
        ("a", 0, 4, 2),
        ("b", 1, 3, 1),
        ("c", 2, 2, 2),
    ]
)


def test_by_hand() -> None:
    """A newcomer has held nothing and stops the others; on completion the one that held less goes first."""
    run = simulate(_JOBS, las, cluster=2)
    # a runs 0-1 and holds 2 GPU-seconds, b runs 1-2 and holds 1, c runs 2-4; b has 2 s left, then a 3 s
    assert run.completion_times == (9, 6, 4)
    assert run.metrics.preemptions == 2


def test_quantum_takes_turns() -> None:
    """With a quantum of 1 s two equal jobs take turns on one GPU: a, b, a, b."""
    jobs = bundle(Job(name=name, release_date=0, duration=2, gpus=1) for name in "ab")
    run = simulate(jobs, las, cluster=1, quantum=1, exact=True)
    assert run.completion_times == (3, 4)


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound, also when GPUs come and go."""
    drop = [CapacityChange(time=1.5, gpus=1), CapacityChange(time=9, gpus=2)]
    steady = Scenario(workload=_JOBS, cluster=Cluster.plain(2))
    unsteady = steady.model_copy(update={"capacity_changes": tuple(drop)})
    assert check_policy(las, [steady, unsteady]) == 4


@pytest.mark.parametrize("quantum", [0, -1, nan, inf, "1"])
def test_bad_quantum(quantum: Any) -> None:
    """A quantum that is no positive, finite number is refused."""
    with pytest.raises(InvalidInput, match=r"quantum: .* must be a positive number of seconds"):
        simulate(_JOBS, las, cluster=2, quantum=quantum)
