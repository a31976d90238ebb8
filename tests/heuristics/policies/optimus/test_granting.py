"""Granting: when GPUs are granted, and to whom."""

from collections.abc import Sequence

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.job import Job
from gsopt.simulation import Decider, State, simulate
from heuristics.policies.optimus.candidates import Candidate
from heuristics.policies.optimus.granting import Granting, Grants
from tests.gsopt.simulation.scenarios import bundle


def last_first(jobs: Sequence[Candidate], grants: Grants) -> None:
    """Grant to the job that came last first."""
    for job in reversed(jobs):
        grants.grow(job)


@pytest.mark.parametrize(
    ("interval", "round_length", "expected"),
    [(None, None, (10, 3)), (5, None, (13, 7)), (5, 7, (15, 9)), (5, 2, (12, 8))],
)
def test_intervals(interval: float | None, round_length: float | None, expected: tuple[float, ...]) -> None:
    """Decisions are taken at every event or at multiples of an interval, or in the first round after them."""
    menu = [(1, 1.0), (2, 1.5)]  # with a choice, though there is one GPU only
    sizes = [("a", 0, 8), ("b", 1, 2)]
    jobs = bundle(Job(name=n, release_date=r, duration=d, gpus=1, menu=menu) for n, r, d in sizes)

    def policy(state: State) -> Decider:
        return Granting(state, last_first, interval=interval)

    found = simulate(jobs, policy, cluster=1, round_length=round_length).completion_times
    assert found == expected


def test_nobody_asks_where_time_changes_nothing() -> None:
    """Rigid jobs are looked at when something has happened, not at every interval."""
    asked = []

    def watching(jobs: Sequence[Candidate], grants: Grants) -> None:
        asked.append(len(jobs))
        last_first(jobs, grants)

    jobs = bundle(Job(name=n, release_date=r, duration=1e9, gpus=1) for n, r in [("a", 0), ("b", 1)])
    simulate(jobs, lambda state: Granting(state, watching, interval=5), cluster=2)
    assert asked == [1, 2, 1, 0]


def test_a_wait_that_is_over_grants_nothing() -> None:
    """Who comes to an idle cluster waits for the next interval, though one was waited for before."""
    menu = [(1, 1.0), (2, 1.5)]
    jobs = bundle(Job(name=str(r), release_date=r, duration=3, gpus=1, menu=menu) for r in [0, 13])
    found = simulate(jobs, lambda state: Granting(state, last_first, interval=5), cluster=1)
    assert found.completion_times == (3, 18)


@pytest.mark.parametrize("interval", [0, -1, float("nan"), float("inf"), "60"])
def test_bad_intervals(interval: float) -> None:
    """An interval that is no number of seconds is refused."""
    jobs = bundle([Job(name="a", release_date=0, duration=5, gpus=1)])
    with pytest.raises(InvalidInput, match=r"interval: .* must be a finite number of seconds"):
        simulate(jobs, lambda state: Granting(state, last_first, interval=interval), cluster=1)
