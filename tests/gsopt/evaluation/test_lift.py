"""Lifting: a policy of anybody's becomes a heuristic of scheduling, options and refusals included."""

from collections.abc import Iterable
from functools import partial
from inspect import signature

import pytest

import gsopt
from gsopt.core.errors import InvalidInput, InvalidSolution, Unsupported
from gsopt.core.result import Status
from gsopt.evaluation.lift import lift
from gsopt.problems.scheduling import ElasticJob, Scheduling
from gsopt.simulation import Action, Decider, IllegalDecision, Resize, Start, State, replay
from heuristics.policies import las
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
        (False, True),
        (True, True),
        (True, True),
        (False, False),
    ]
    assert rows[0].note == "no 3 jobs today"
    assert rows[1].note.startswith("IllegalDecision: ")
    assert rows[2].note.startswith("InvalidSolution: idle on scheduling/small/ares-figure-4: job ")


def test_a_schedule_longer_than_a_job_can_be() -> None:
    """Two jobs of the longest duration are a solution one after the other."""
    jobs = [ElasticJob(name=name, release=0, work=1e12, rates={1: 1.0}) for name in "ab"]
    result = lift(Sorted)(Scheduling(gpus=1, jobs=jobs))
    assert (result.status, result.objective) == (Status.FEASIBLE, 1.5e12)


def test_unknown_options_are_refused() -> None:
    """An option that the policy does not have is named."""
    with pytest.raises(InvalidInput, match="colour: is not an option of Sorted"):
        gsopt.solve(tiny(0), lift(Sorted), colour="red")
