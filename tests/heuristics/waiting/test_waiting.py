"""List scheduling by tier, and lifted policies."""

from collections.abc import Callable
from fractions import Fraction
from inspect import signature
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.result import Result, Status
from gsopt.evaluation import catalogue
from gsopt.evaluation.lift import lift_waiting
from gsopt.problems.waiting import Waiting, WaitingSolution
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.simulation import replay
from gsopt.testing import check_heuristic
from heuristics.policies import srtf
from heuristics.waiting import best_tier, break_even
from tests.effort import cases
from tests.exactness import waiting as oracle
from tests.heuristics.results import solved


def three_jobs() -> Waiting:
    """Return three jobs of 3 GPUs that two machines of 5 GPUs in two racks hold only across racks together."""
    jobs = [
        Job(name=name, release_date=0, duration=seconds, gpus=3, model="alexnet")
        for name, seconds in [("a", 30), ("b", 10), ("c", 20)]
    ]
    return Waiting(cluster=Cluster.uniform(racks=2, machines=1, gpus=5), jobs=jobs)


@pytest.mark.parametrize("options", [{}, {"order": "release"}, {"order": "smallest"}, {"wait": False}])
def test_tiny_instances_are_solved(options: dict[str, Any]) -> None:
    """On tiny instances every list is a schedule, and none beats the optimum."""
    problems = [oracle.draw(Random(seed)) for seed in range(cases(12, least=4))]
    assert check_heuristic(best_tier, problems, **options) == len(problems)


def test_the_shortest_first_and_each_on_a_machine() -> None:
    """B and c start at once, a when b ends: 10.2, 20.4 and 10.2 + 30.6 s."""
    result = best_tier(three_jobs())

    assert result.solution is not None
    assert [(run.job, run.start) for run in result.solution.runs] == [("b", 0), ("c", 0), ("a", 10.2)]
    assert result.objective == (Fraction("10.2") + Fraction("20.4") + Fraction("40.8")) / 3


def test_without_waiting_the_last_runs_across_racks() -> None:
    """A takes the two GPUs that are left on each machine, and twice its time."""
    result = best_tier(three_jobs(), wait=False)

    assert result.objective == (Fraction("10.2") + Fraction("20.4") + 60) / 3


def test_by_release_the_earlier_in_the_problem_goes_first() -> None:
    """A and b start at once, c when b ends."""
    solution = solved(best_tier(three_jobs(), order="release"))

    assert [run.job for run in solution.runs] == ["a", "b", "c"]
    assert solution.runs[2].start == 10.2


def test_an_unknown_order_gets_one_line() -> None:
    """The message names the option, its value and the orders that there are."""
    unknown: Any = "longest"

    with pytest.raises(InvalidInput, match="order: 'longest': must be one of shortest, smallest, release"):
        best_tier(three_jobs(), order=unknown)


def test_what_ends_together_is_free_together() -> None:
    """Two jobs end at once: the job of two GPUs, first in the list, takes both, and not the next the first."""
    sizes = [("a", 1, 1), ("b", 1, 1), ("c", 2, 2), ("d", 5, 1)]
    jobs = [Job(name=name, release_date=0, duration=seconds, gpus=gpus) for name, seconds, gpus in sizes]
    solution = solved(best_tier(Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=jobs)))

    assert [(run.job, run.start) for run in solution.runs] == [("a", 0), ("b", 0), ("c", 1), ("d", 3)]


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
