"""Beliefs: what a policy is told of shared GPUs may be wrong, and what happens is not."""

from collections.abc import Iterable
from fractions import Fraction

import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Mode, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import TIER_PENALTIES, Speed
from gsopt.simulation import Action, Start, State, simulate
from gsopt.simulation.beliefs import believing
from gsopt.testing import check_policy
from heuristics.policies import sjf_bsbf, sjf_ffs

MACHINE = Cluster.uniform(machines=1, gpus=2)
TRUTH = Speed(interference={"a": {"b": 1.25}, "b": {"a": 1.5}})
BELIEF = Speed(interference={"a": {"b": 4.0}}, default_interference=2.0)


def _job(name: str, **fields: object) -> Job:
    given = {"name": name, "release_date": 0, "duration": 6, "gpus": 1, "model": name}
    return Job.model_validate(given | fields)


class _Notes:
    """Starts all jobs together on one GPU, and takes note of what it is told of them."""

    preemptive = False

    def __init__(self, state: State) -> None:
        self.told: list[object] = []
        self.number = type(state.now)

    def decide(self, state: State) -> Iterable[Action]:
        if not state.arrived:
            return
        self.told += [state.rate(0, (0,)), state.rate(0, (0,), beside=(1,)), state.rate(1, (0,), beside=(0,))]
        self.told += [state.rate(0, 1, "half", beside=(1,))]
        for job in state.arrived:
            yield Start(job, (0,))


@pytest.mark.parametrize("exact", [False, True])
def test_slowdowns_are_believed_and_others_are_true(exact: bool) -> None:
    """The policy is told what it believes, also of pairs that this does not list; what happens is true."""
    made: list[_Notes] = []

    def notes(state: State) -> _Notes:
        made.append(_Notes(state))
        return made[-1]

    half = Mode(name="half", menu=[(1, 0.5)])
    jobs = Workload(jobs=[_job("a", modes=[half]), _job("b")])
    run = simulate(jobs, believing(notes, BELIEF), cluster=MACHINE, speed=TRUTH, share_limit=2, exact=exact)
    assert made[0].told == [1, Fraction(1, 4), Fraction(1, 2), Fraction(1, 8)]
    assert {type(each) for each in made[0].told} == {made[0].number} == {Fraction if exact else float}
    assert run.completion_times == (7.5, 8.5)


def test_tiers_are_true() -> None:
    """Only sharing is believed: the network costs what it costs."""
    told: list[float] = []

    class Asks:
        preemptive = False

        def decide(self, state: State) -> Iterable[Action]:
            if state.arrived:
                told.append(state.rate(0, 2, tier="network"))
                yield Start(0)

    jobs = Workload(jobs=[_job("alexnet", gpus=2)])
    speed = Speed(tiers=TIER_PENALTIES)
    simulate(jobs, believing(lambda _: Asks(), Speed()), cluster=MACHINE, speed=speed, share_limit=2)
    assert told == [0.5]


def test_who_believes_the_truth_decides_as_ever() -> None:
    """With the true slowdowns nothing changes."""
    jobs = [_job("ab"[i % 2], release_date=i).model_copy(update={"name": str(i)}) for i in range(12)]
    scenario = Scenario(workload=Workload(jobs=jobs), cluster=MACHINE, speed=TRUTH, share_limit=2)
    for policy in (sjf_bsbf, sjf_ffs):
        runs = [simulate(scenario, each).completion_times for each in (policy, believing(policy, TRUTH))]
        assert runs[0] == runs[1]


def test_wrong_beliefs_are_legal() -> None:
    """Whatever is believed, the schedule is one, and its figures are those of the truth."""
    jobs = Workload(jobs=[_job("a"), _job("b", release_date=1, duration=2), _job("c", gpus=2, release_date=2)])
    scenario = Scenario(workload=jobs, cluster=MACHINE, speed=TRUTH, share_limit=2)
    for belief in (Speed(), BELIEF):
        check_policy(believing(sjf_bsbf, belief), [scenario])
