"""Policies by name wherever policies are given, and lifted to heuristics of scheduling."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any

import pytest

import gsopt
from gsopt import simulation, testing
from gsopt.core.errors import InvalidSolution, Unsupported
from gsopt.core.result import Status
from gsopt.evaluation.lift import lift
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.simulation import Action, Decider, IllegalDecision, Resize, Start, State, replay
from heuristics.policies import fifo, las
from instances.workloads import batch
from tests.refusals import assert_refused
from tests.strategies.scheduling import tiny


class Sorted:
    """Start waiting jobs in an order."""

    preemptive = False

    def __init__(self, state: State, sign: float = 1.0) -> None:
        """Begin with nobody."""
        del state
        self.sign, self.waiting = sign, set[int]()

    def decide(self, state: State) -> Iterable[Action]:
        """Start whoever fits, the shortest or the longest first."""
        self.waiting |= set(state.arrived)
        for job in sorted(self.waiting, key=lambda job: self.sign * state.jobs[job].duration):
            if state.fits(job):
                self.waiting.remove(job)
                yield Start(job)


def greedy(state: State) -> Decider:
    """Return a job GPUs that are not there."""

    class Greedy(Sorted):
        def decide(self, state: State) -> Iterable[Action]:
            for action in super().decide(state):
                yield action
                if isinstance(action, Start):
                    yield Resize(action.job, 99)

    return Greedy(state)


def idle(state: State) -> Decider:
    """Start nothing."""

    class Idle(Sorted):
        def decide(self, state: State) -> Iterable[Action]:
            del state
            return ()

    return Idle(state)


def refuses(state: State) -> Decider:
    """Handle no problem."""
    raise Unsupported(f"no {len(state.jobs)} jobs today")


def test_a_policy_of_ones_own() -> None:
    """A class as a policy finds what its simulation books, its options are keywords of the method."""
    method = lift(Sorted)
    assert (method.__name__, method.__doc__) == ("Sorted", "Start waiting jobs in an order.")
    assert list(signature(method).parameters) == ["problem", "sign", "budget", "time_limit"]
    for seed in range(20):
        problem = tiny(seed)
        for sign in (1.0, -1.0):
            booked = replay(problem.scenario, Sorted, sign=sign).metrics
            assert gsopt.solve(problem, method, sign=sign).objective == pytest.approx(booked.mean_jct)


def test_options_that_are_set_beforehand() -> None:
    """A partial policy is lifted with its options, which can be set anew."""
    jobs = [ElasticJob(name=name, release=0, work=2, rates={1: 1.0}) for name in "ab"]
    problem, method = Scheduling(gpus=1, jobs=jobs), lift(partial(las, quantum=0.5))
    assert method.__name__ == "las(quantum=0.5)"
    assert method(problem).objective == pytest.approx(3.75)
    assert method(problem, quantum=None).objective == pytest.approx(3)


def test_policies_that_fail_say_so() -> None:
    """Refusals, forbidden decisions and jobs that never complete are raised alone, and a row when compared."""
    problem = gsopt.load("scheduling/small/ares-figure-4")
    for policy, error in [(refuses, Unsupported), (greedy, IllegalDecision), (idle, InvalidSolution)]:
        with pytest.raises(error):
            lift(policy)(problem)
    rows = gsopt.compare(problem, [*map(lift, (refuses, greedy, idle)), "fifo"])
    assert [(row.failed, row.result is None) for row in rows] == [
        *((False, True), (True, True), (True, True), (False, False))
    ]
    assert rows[0].note == "no 3 jobs today"
    assert rows[1].note.startswith("IllegalDecision: greedy, at 0.0 s: ")
    assert rows[2].note.startswith("InvalidSolution: idle on scheduling/small/ares-figure-4: job ")


def test_a_schedule_longer_than_a_job_can_be() -> None:
    """Two jobs of the longest duration are a solution one after the other."""
    jobs = [ElasticJob(name=name, release=0, work=1e12, rates={1: 1.0}) for name in "ab"]
    result = lift(Sorted)(Scheduling(gpus=1, jobs=jobs))
    assert (result.status, result.objective) == (Status.FEASIBLE, 1.5e12)


def test_unknown_options_are_refused() -> None:
    """An option that the policy does not have is named."""
    assert_refused("colour: is not an option of Sorted", gsopt.solve, tiny(0), lift(Sorted), colour="red")


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
        assert run.metrics == simulation.simulate(workload, las, cluster=4, quantum=60).metrics
        assert run.metrics.policy == "las(quantum=60)"


def test_comparisons_take_both(workload: Workload) -> None:
    """Names and callables stand side by side; checks take names too."""
    rows = gsopt.compare_policies(workload, ["fifo", fifo, f"{__name__}:las"], cluster=4)
    assert [row.policy for row in rows] == ["fifo", "fifo (2)", "las"]
    assert rows[0] == replace(rows[1], policy="fifo")
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
    assert_refused(message, gsopt.simulate, workload, policy, cluster=4)
    assert_refused(message, gsopt.compare_policies, workload, [policy], cluster=4)


def test_a_run_is_told_in_one_line(workload: Workload) -> None:
    """What a run prints is how it went, and no longer for a long workload; without jobs there is no mean."""
    run = gsopt.simulate(workload, "fifo", cluster=4)
    assert f"{run}".startswith("<Replay: 10 of 10 jobs complete, mean JCT ")
    assert f"{run.metrics.mean_jct / 3600:,.4g} h" in f"{run}"
    assert f"{gsopt.simulate(Workload(jobs=[]), 'fifo', cluster=4)}" == "<Replay: 0 of 0 jobs complete>"
