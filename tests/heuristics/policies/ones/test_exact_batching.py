"""Exact batching: the optimum of every event, taken at once."""

from typing import Any

import pytest
from hypothesis import given, settings

from gsopt.core.enumeration import brute_force
from gsopt.core.errors import InvalidInput
from gsopt.core.method import NoSolution
from gsopt.core.result import Result
from gsopt.problems.batching import Batches, Batching
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies.ones.exact_batching import exact_batching
from instances.workloads import ones
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, plain_scenarios

_JOBS = bundle(
    Job(name=n, release_date=0, duration=d, gpus=1, menu=[(1, 1.0), (2, 1.5)]) for n, d in [("a", 3), ("b", 6)]
)


def _enumerate(problem: Batching) -> Result[Batches]:
    found = brute_force(problem)
    return Result.judged(problem, method="enumeration", runtime=0.0, solution=found and found[1])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"criterion": "sruf", "forced": "none"}, (2, 6)),  # a is the least work, on both GPUs
        ({"criterion": "sruf", "forced": "new"}, (3, 5)),  # both have never run
        ({"criterion": "sruf", "forced": "all"}, (3, 5)),
        ({"criterion": "rate"}, (3, 5)),
        ({"criterion": "sum_time"}, (3, 5)),
        ({"criterion": "sruf", "reconfiguration": 100.0}, (3, 5)),  # both GPUs are used, whatever it costs
    ],
)
def test_by_hand(options: dict[str, Any], expected: tuple[float, ...]) -> None:
    """Two jobs on two GPUs complete as the criterion has it."""
    assert simulate(_JOBS, exact_batching, cluster=2, **options).completion_times == expected
    solved = simulate(_JOBS, exact_batching, cluster=2, solver=_enumerate, **options)
    assert solved.completion_times == expected


@pytest.mark.parametrize("solver", ["dp", "exact"])
def test_methods_by_name(solver: str) -> None:
    """A method of the decision by its name solves every event as the arrays do."""
    given = Scenario(workload=ones(jobs=4, gpus=4, seed=3), cluster=Cluster.plain(4))
    ours = simulate(given, exact_batching, bound=False)
    assert simulate(given, exact_batching, bound=False, solver=solver).jct == pytest.approx(ours.jct)


@settings(max_examples=cases(40), deadline=None)
@given(scenario=plain_scenarios(elastic=True))
def test_simulator_and_judge_agree(scenario: Scenario) -> None:
    """Whatever the jobs, overheads and changes of capacity, all that is booked is what the judge finds."""
    assert check_policy(exact_batching, [scenario], exact=False) == 1
    assert check_policy(exact_batching, [scenario], exact=False, criterion="sruf", forced="new") == 1


def test_on_jobs_of_ones() -> None:
    """Jobs with elastic batch sizes complete by every criterion, in fractions too, and no bound is beaten."""
    given = Scenario(workload=ones(jobs=10, gpus=8, seed=3), cluster=Cluster.plain(8))
    assert check_policy(exact_batching, [given]) == 2
    assert check_policy(exact_batching, [given], exact=False, criterion="sum_time", caps="batch") == 1


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"criterion": "jct"}, "criterion: 'jct': must be one of sruf, rate, sum_time"),
        ({"forced": "old"}, "forced"),
        ({"caps": "refresh"}, "caps"),
        ({"criterion": "sum_time", "forced": "new"}, "must be all where criterion is sum_time"),
        ({"reconfiguration": -1}, "reconfiguration"),
        ({"reconfiguration": float("nan")}, "reconfiguration"),
        ({"solver": "no such"}, "method"),
        ({"solver": lambda _: NoSolution("none")}, "must find a solution at every event"),
    ],
)
def test_bad_options(options: dict[str, Any], reason: str) -> None:
    """An option out of its range is refused in a line that names it."""
    with pytest.raises(InvalidInput, match=reason):
        simulate(_JOBS, exact_batching, cluster=2, **options)
