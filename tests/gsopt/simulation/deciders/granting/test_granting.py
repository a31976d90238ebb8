"""Granting: when GPUs are granted, and to whom."""

from collections.abc import Sequence

import pytest

from gsopt.errors import InvalidInput
from gsopt.job import Job
from gsopt.simulation import Decider, State, simulate
from gsopt.simulation.deciders.granting.contender import Contender
from gsopt.simulation.deciders.granting.granting import Granting
from gsopt.simulation.deciders.granting.grants import Grants
from tests.gsopt.simulation.scenarios import bundle


def last_first(jobs: Sequence[Contender], grants: Grants) -> None:
    """Grant to the job that came last first."""
    for job in reversed(jobs):
        grants.grow(job)


@pytest.mark.parametrize(
    ("interval", "round_length", "expected"),
    [(None, None, (10, 3)), (5, None, (13, 7)), (5, 7, (15, 9)), (5, 2, (12, 8))],
)
def test_intervals(interval: float | None, round_length: float | None, expected: tuple[float, ...]) -> None:
    """Decisions are taken at every event or at multiples of an interval, or in the first round after them."""
    jobs = bundle(Job(name=n, release_date=r, duration=d, gpus=1) for n, r, d in [("a", 0, 8), ("b", 1, 2)])

    def policy(state: State) -> Decider:
        return Granting(state, last_first, interval=interval)

    found = simulate(jobs, policy, cluster=1, round_length=round_length).completion_times
    assert found == expected


@pytest.mark.parametrize("interval", [0, -1, float("nan"), float("inf"), "60"])
def test_bad_intervals(interval: float) -> None:
    """An interval that is no number of seconds is refused."""
    jobs = bundle([Job(name="a", release_date=0, duration=5, gpus=1)])
    with pytest.raises(InvalidInput, match=r"interval: .* must be a finite number of seconds"):
        simulate(jobs, lambda state: Granting(state, last_first, interval=interval), cluster=1)
