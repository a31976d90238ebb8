"""Estimates and beliefs: policies decide by wrong numbers, and what happens follows the true ones."""

from collections.abc import Iterable
from fractions import Fraction
from math import log
from statistics import median, stdev
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Mode, Phase, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import TIER_PENALTIES, Speed
from gsopt.simulation import Action, NotReleased, Start, State, replay, simulate
from gsopt.simulation.beliefs import believing
from gsopt.simulation.estimates import misjudging
from gsopt.testing import check_policy
from heuristics import policies
from heuristics.policies import fifo, las, sjf_bsbf, sjf_ffs, srtf
from tests.gsopt.simulation.parts.test_greedy import large
from tests.gsopt.simulation.scenarios import bundle


class _Notes:
    """Runs one job after the other, and takes note of what it is told."""

    preemptive = False

    def __init__(self, state: State) -> None:
        self.told: list[tuple[int, Any, Any]] = []
        self._fifo = fifo(state)

    def decide(self, state: State) -> Iterable[Action]:
        for job in (*state.arrived, *state.running):
            self.told.append((job, state.jobs[job].duration, state.remaining(job)))
        return self._fifo.decide(state)


def _told(
    factor: float | None, seed: int, jobs: int = 400, *, wrong: float | None = None, margin: float = 0.25
) -> list[tuple[int, Any, Any]]:
    workload = bundle(Job(name=str(i), release_date=2 * i, duration=4, gpus=1) for i in range(jobs))
    made: list[_Notes] = []

    def notes(state: State) -> _Notes:
        made.append(_Notes(state))
        return made[-1]

    simulate(workload, misjudging(notes, factor=factor, wrong=wrong, margin=margin, seed=seed), cluster=2)
    return made[0].told


def test_factors_are_log_normal() -> None:
    """Over 400 jobs the median factor is about 1, and the logarithms deviate by about that of the factor."""
    factors = {job: duration / 4 for job, duration, _ in _told(2.0, 0)}
    assert 0.85 < median(factors.values()) < 1.15
    assert 0.9 * log(2) < stdev(map(log, factors.values())) < 1.1 * log(2)


def _factors(wrong: float, margin: float = 0.25) -> dict[int, float]:
    return {job: duration / 4 for job, duration, _ in _told(None, 0, wrong=wrong, margin=margin)}


def test_a_share_is_wrong_within_the_margin() -> None:
    """Of 400 jobs about the share is misjudged, as often too high as too low, by up to the margin."""
    errors = [factor - 1 for factor in _factors(0.4).values() if factor != 1]
    assert 0.33 < len(errors) / 400 < 0.47
    assert 0.4 < sum(error > 0 for error in errors) / len(errors) < 0.6
    assert 0.24 < max(errors) <= 0.25
    assert -0.25 <= min(errors) < -0.24


def test_who_is_wrong_stays_wrong() -> None:
    """Who is misjudged at one share is so at every larger one, by the same error."""
    few, many = _factors(0.2), _factors(0.6)
    misjudged = [job for job, factor in few.items() if factor != 1]
    assert misjudged
    assert all(few[job] == many[job] for job in misjudged)


@pytest.mark.parametrize(("wrong", "margin"), [(0, 0.25), (1, 0)])
def test_nobody_is_wrong(wrong: float, margin: float) -> None:
    """Where no job is misjudged, or by nothing, all durations are true."""
    assert set(_factors(wrong, margin).values()) == {1.0}


def test_remaining_work_has_the_factor_of_the_duration() -> None:
    """Half-way through, half of the expected duration is left, by the same factor."""
    told = _told(3.0, 1, jobs=20)
    expected = {job: duration for job, duration, _ in told}
    shares = {round(left / expected[job], 9) for job, _, left in told}
    assert shares == {1.0, 0.5}
    assert all(duration == expected[job] for job, duration, _ in told)


def test_a_factor_of_one_changes_nothing() -> None:
    """Where all estimates are right, and for policies that do not look at them, the schedule is the same."""
    scenario = large(2)
    for policy, factor in ((srtf, 1.0), (las, 5.0)):
        runs = [replay(scenario, each, record=True) for each in (policy, misjudging(policy, factor=factor))]
        assert runs[0].schedule == runs[1].schedule


def test_the_seed_decides() -> None:
    """The same seed misjudges alike, another otherwise, and the truth is what completes."""
    scenario = large(2)
    runs = [replay(scenario, misjudging(srtf, seed=seed)).completion_times for seed in (3, 3, 4)]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize("name", policies.__all__)
def test_every_policy_can_be_misled(name: str) -> None:
    """Each listed policy completes all jobs by wrong estimates, in floats and in fractions."""
    phases = [Phase(until=0.5, slowdown=2.0), Phase(until=1)]
    jobs = bundle(
        Job(name=str(i), release_date=i, duration=1 + 3 * i % 7, gpus=1 + i % 3, phases=phases)
        for i in range(9)
    )
    scenario = Scenario(workload=jobs, cluster=Cluster.plain(4))
    assert check_policy(misjudging(getattr(policies, name)), [scenario]) == 2


def test_the_future_stays_hidden() -> None:
    """Jobs that are not released have no estimates either."""

    def curious(state: State) -> _Notes:
        with pytest.raises(NotReleased):
            state.jobs[0]
        assert len(state.jobs) == 1
        return _Notes(state)

    run = simulate(bundle([Job(name="a", release_date=1, duration=2, gpus=1)]), misjudging(curious), cluster=1)
    assert run.completion_times == (3,)


def test_exact_estimates() -> None:
    """In fractions the remaining work is told in fractions."""
    kinds: set[type] = set()

    class Look(_Notes):
        def decide(self, state: State) -> Iterable[Action]:
            kinds.update(type(state.remaining(job)) for job in state.arrived)
            return super().decide(state)

    simulate(
        bundle([Job(name="a", release_date=0, duration=2, gpus=1)]), misjudging(Look), cluster=1, exact=True
    )
    assert kinds == {Fraction}


@pytest.mark.parametrize("factor", [0.5, -1, float("nan"), float("inf"), "2"])
def test_bad_factor(factor: Any) -> None:
    """A factor below 1, or that is no number, is refused."""
    with pytest.raises(InvalidInput, match=r"^factor: .* must be a number from 1 to 1e6$"):
        misjudging(srtf, factor=factor)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"wrong": 1.5}, "wrong: 1.5: must be a number from 0 to 1"),
        ({"wrong": "1"}, "wrong: '1': must be a number from 0 to 1"),
        ({"wrong": 0.5, "margin": 1}, "margin: 1: must be a number from 0 to below 1"),
        ({"wrong": 0.5, "margin": float("nan")}, "margin: nan: must be a number from 0 to below 1"),
        ({"wrong": 0.5, "factor": 2.0}, "factor: 2.0: must not be given together with wrong"),
    ],
)
def test_bad_share(options: Any, line: str) -> None:
    """A share or margin out of its range is refused, and one beside a factor."""
    with pytest.raises(InvalidInput) as refusal:
        misjudging(srtf, **options)
    assert str(refusal.value) == line


MACHINE = Cluster.uniform(machines=1, gpus=2)
TRUTH = Speed(interference={"a": {"b": 1.25}, "b": {"a": 1.5}})
BELIEF = Speed(interference={"a": {"b": 4.0}}, default_interference=2.0)


def _job(name: str, **fields: object) -> Job:
    given = {"name": name, "release_date": 0, "duration": 6, "gpus": 1, "model": name}
    return Job.model_validate(given | fields)


class _RateNotes:
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
    made: list[_RateNotes] = []

    def notes(state: State) -> _RateNotes:
        made.append(_RateNotes(state))
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
