"""Policies by name, wherever policies are given."""

from typing import Any

import pytest

import gsopt
from gsopt import simulation, testing
from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.simulation import Decider, State
from heuristics.policies import fifo, las
from instances.workloads import batch
from tests.gsopt.evaluation.test_lift import refuses


@pytest.fixture(scope="module")
def workload() -> Workload:
    """Return a few jobs."""
    return batch(jobs=10, gpus=4)


def crashes(state: State) -> Decider:
    """Fail as a program does that has a mistake."""
    raise KeyError(state.now)


def test_names_and_callables_are_alike(workload: Workload) -> None:
    """A name, a path and the policy itself give the same run, with the policy's options."""
    for policy in ("las", "heuristics.policies:las", las):
        run = gsopt.simulate(workload, policy, cluster=4, quantum=60)
        assert run == simulation.simulate(workload, las, cluster=4, quantum=60)
        assert run.metrics.policy == "las(quantum=60)"


def test_comparisons_take_both(workload: Workload) -> None:
    """Names and callables stand side by side; checks take names too."""
    rows = gsopt.compare_policies(workload, ["fifo", fifo, f"{__name__}:las"], cluster=4)
    assert [row.policy for row in rows] == ["fifo", "fifo", "las"]
    assert rows[0] == rows[1]
    scenario = Scenario.of(workload, 4)
    assert testing.check_policy("fifo", [scenario]) == 2
    assert testing.check_heuristic("greedy", [gsopt.load("reclaiming/aryl-figure-5")]) == 1
    assert testing.check_formulation("milp", [gsopt.load("reclaiming/aryl-figure-5")]) == 1


def test_a_policy_that_raises_leaves_the_others(workload: Workload) -> None:
    """What a policy raises is said below the table, in which the others stand."""
    found = gsopt.compare_policies(workload, [crashes, "fifo", refuses], cluster=4)
    assert [row.policy for row in found] == ["fifo"]
    assert found.failed == {"crashes": "KeyError: 0.0", "refuses": "Unsupported: no 10 jobs today"}
    assert "crashes failed: KeyError: 0.0" in str(found)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("fifoo", "policy: 'fifoo': must be one of .*, efq, .*, or package.module:function"),
        (7, "policy: 7: must be a name or a callable"),
        ("nowhere:fifo", "policy: 'nowhere:fifo': there is no module nowhere"),
    ],
)
def test_what_is_no_policy_is_refused(workload: Workload, policy: Any, message: str) -> None:
    """A policy that is not there gives one line."""
    with pytest.raises(InvalidInput, match=message):
        gsopt.simulate(workload, policy, cluster=4)
    with pytest.raises(InvalidInput, match=message):
        gsopt.compare_policies(workload, [policy], cluster=4)


def test_a_run_is_told_in_one_line(workload: Workload) -> None:
    """What a run prints is how it went, and no longer for a long workload; without jobs there is no mean."""
    run = gsopt.simulate(workload, "fifo", cluster=4)
    assert f"{run}".startswith("<Replay: 10 of 10 jobs complete, mean JCT ")
    assert f"{run.metrics.mean_jct:,.7g} s" in f"{run}"
    assert f"{gsopt.simulate(Workload(jobs=[]), 'fifo', cluster=4)}" == "<Replay: 0 of 0 jobs complete>"
