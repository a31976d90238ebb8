"""Lifted policies: what they start is taken over on the exact clock of the problem."""

from collections.abc import Callable
from inspect import signature
from random import Random
from typing import Any

import pytest

from gsopt.core.result import Result, Status
from gsopt.evaluation import catalogue
from gsopt.evaluation.lift import lift_waiting
from gsopt.problems.waiting import Waiting, WaitingSolution
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.simulation import replay
from heuristics.policies import srtf
from heuristics.waiting import break_even
from tests.exactness import waiting as oracle

LIFTED = {name: method for name, method in catalogue.heuristics("waiting").items() if name != "best_tier"}


@pytest.mark.parametrize("name", LIFTED)
def test_every_policy_finds_what_the_simulator_books(name: str) -> None:
    """On tiny instances every policy's schedule is legal, and its mean and makespan are the simulator's."""
    for seed in range(15):
        problem = oracle.draw(Random(seed))
        options: dict[str, Any] = {"lease": None} if name in {"break_even", "dally"} else {}
        policy = catalogue.policies()[name]
        booked = replay(
            problem.scenario, lambda state, policy=policy, options=options: policy(state, **options)
        )
        result: Result[WaitingSolution] = LIFTED[name](problem)
        assert result.objective is not None, problem.name
        assert (result.method, result.status) == (name, Status.FEASIBLE)
        value = {"mean_jct": booked.metrics.mean_jct, "makespan": booked.metrics.makespan}[problem.minimize]
        assert float(result.objective) == pytest.approx(value, rel=1e-9), problem.name


def waits() -> Waiting:
    """Return two jobs that fill both racks but for one GPU each, and one of two GPUs that suffers far apart."""
    jobs = [
        Job(name=name, release_date=0, duration=seconds, gpus=gpus, model="resnet18")
        for name, seconds, gpus in [("a", 10, 1), ("b", 10, 1), ("c", 5, 2)]
    ]
    return Waiting(cluster=Cluster.uniform(racks=2, machines=1, gpus=2), jobs=jobs)


def test_a_wait_on_purpose_counts() -> None:
    """What a policy lets idle stays idle: it is taken over with its own starts."""
    patient, hasty = break_even(waits()), catalogue.heuristics("waiting")["fifo_skipping"](waits())

    assert patient.objective is not None
    assert hasty.objective is not None
    assert patient.objective <= hasty.objective


def test_a_policy_that_interrupts_has_no_solution() -> None:
    """Shortest remaining time first stops the long job for the short one, and the message names it."""
    jobs = [
        Job(name=name, release_date=release, duration=seconds, gpus=2)
        for name, release, seconds in [("long", 0, 10), ("short", 1, 2)]
    ]
    problem = Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=jobs)
    method: Callable[..., Result[WaitingSolution]] = lift_waiting(srtf)
    result = method(problem)

    assert (result.status, result.solution) == (Status.UNKNOWN, None)
    assert "'long'" in result.message


def test_preset_options_are_defaults() -> None:
    """A preset option is shown as the default, and can be set otherwise."""
    assert signature(break_even).parameters["lease"].default is None
    assert break_even(waits(), lease=3.0).status in {Status.FEASIBLE, Status.UNKNOWN}
