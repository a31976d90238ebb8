"""Marginal efficiency over attained service: by hand, and that it does not look at durations."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.simulation import Action, Decider, IllegalDecision, Policy, State, replay, simulate
from gsopt.testing import check_policy
from heuristics.policies import marginal, marginal_attained
from tests.gsopt.simulation.parts.test_greedy import large
from tests.gsopt.simulation.scenarios import bundle


class _Blind:
    """A state that shows every job as a second long, and no remaining work."""

    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def jobs(self) -> Sequence[Job]:
        jobs = self._state.jobs
        return _Seconds(jobs)

    def remaining(self, job: int) -> Any:
        raise AssertionError(job)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)


class _Seconds(Sequence[Job]):
    def __init__(self, jobs: Sequence[Job]) -> None:
        self._jobs = jobs

    def __len__(self) -> int:
        return len(self._jobs)

    def __getitem__(self, job: Any) -> Any:
        return self._jobs[job].model_copy(update={"duration": 1.0})


def _blindfolded(policy: Policy) -> Policy:
    class Decides:
        preemptive = True

        def __init__(self, state: State) -> None:
            self._decider = policy(_Blind(state))

        def decide(self, state: State) -> Iterable[Action]:
            return self._decider.decide(_Blind(state))

    def blindfolded(state: State) -> Decider:
        return Decides(state)

    return blindfolded


@pytest.mark.parametrize("seed", range(3))
def test_it_does_not_look_at_durations(seed: int) -> None:
    """Where durations and remaining work are hidden, every decision is the same."""
    scenario = large(seed)
    runs = [
        replay(scenario, policy, record=True) for policy in (marginal_attained, _blindfolded(marginal_attained))
    ]
    assert runs[0].schedule == runs[1].schedule
    with pytest.raises(AssertionError):
        replay(scenario, _blindfolded(marginal))


def _rigid(*sizes: tuple[float, float]) -> list[Job]:
    return [
        Job(name=str(index), release_date=release, duration=duration, gpus=1)
        for index, (release, duration) in enumerate(sizes)
    ]


@pytest.mark.parametrize(
    ("hysteresis", "completions"),
    [
        (1, (10, 6)),  # at 5 s the newcomer has held nothing
        (2, (10, 6)),  # 6 s, halved, are more than the 1 s it has to begin with
        (8, (9, 10)),
    ],
)
def test_by_hand(hysteresis: float, completions: tuple[float, ...]) -> None:
    """A newcomer stops a job that has held more than the hysteresis allows."""
    jobs = bundle(_rigid((0, 9), (5, 1)))
    run = simulate(jobs, marginal_attained, cluster=1, grace=1, hysteresis=hysteresis)
    assert run.completion_times == completions


def test_equal_service_does_not_make_jobs_take_turns() -> None:
    """In rounds, jobs of equal service would stop each other for ever; with hysteresis they do so seldom."""
    jobs = bundle(_rigid(*[(0.0, 4000.0)] * 4))
    lively, calm = (
        simulate(jobs, marginal_attained, cluster=2, round_length=60, hysteresis=factor).metrics
        for factor in (1, 16)
    )
    assert calm.preemptions <= 4
    assert lively.preemptions >= 50


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound, also when GPUs come and go."""
    menu = ((1, 1.0), (2, 1.5), (4, 2.5))
    jobs = bundle(
        Job(name=str(date), release_date=date, duration=3 + 5 * date % 7, gpus=1, menu=menu)
        for date in range(8)
    )
    drop = (CapacityChange(time=1.5, gpus=1), CapacityChange(time=9, gpus=4))
    steady = Scenario(workload=jobs, cluster=Cluster.plain(4), overheads={"": Overhead(stop=0.5, resize=0.25)})
    unsteady = steady.model_copy(update={"capacity_changes": drop})
    assert check_policy(marginal_attained, [steady, unsteady]) == 4
    assert check_policy(marginal_attained, [steady, unsteady], round_length=2.0, grace=1) == 4


@pytest.mark.parametrize("grace", [0, -1, float("nan"), float("inf"), "1", None])
def test_bad_grace(grace: Any) -> None:
    """Service to begin with that is no positive number is refused."""
    with pytest.raises(InvalidInput, match=r"^grace: .* must be a positive, finite number of GPU-seconds$"):
        simulate(bundle(_rigid((0, 1))), marginal_attained, cluster=1, grace=grace)


def test_turns_that_take_longer_than_they_last_are_an_error() -> None:
    """Without hysteresis two jobs would take turns for ever where starts take two rounds; with it they end."""
    jobs = bundle(Job(name=name, release_date=0, duration=4, gpus=1) for name in "ab")
    slow: dict[str, Any] = {"cluster": 1, "round_length": 1.0, "overheads": Overhead(start=2.0)}

    assert simulate(jobs, marginal_attained, **slow).completion_times == (6, 12)
    with pytest.raises(IllegalDecision, match="longer than their overhead now and then"):
        simulate(jobs, marginal_attained, hysteresis=1, **slow)
