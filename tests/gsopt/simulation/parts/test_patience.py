"""Patience: a job waits for the longest timer of the tiers that it could have and that are better."""

from collections.abc import Iterable
from math import inf

import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.simulation import Action, Start, State, simulate
from gsopt.simulation.parts.patience import Timer, Timers, always_waits, never_waits
from tests.gsopt.simulation.scripts import doing, workload

#: Machines of two GPUs, racks of four, eight in all.
TREE = Cluster.uniform(racks=2, machines=2, gpus=2)


def waits(timer: Timer, gpus: int) -> list[float]:
    """Return how long a job waits before it accepts each tier, from the innermost out."""
    found: list[float] = []

    def look(state: State) -> Iterable[Action]:
        patience = Timers(state, timer)
        found.extend(patience.seconds(state, 0, tier, tuple(range(gpus))) for tier in range(3))
        return map(Start, state.arrived)

    simulate(workload((0, 1, gpus)), doing(look), cluster=TREE)
    return found[:3]


@pytest.mark.parametrize(
    ("gpus", "expected"),
    [
        (2, [0, 12, 24]),
        (3, [0, 0, 24]),  # no machine has room for it
        (5, [0, 0, 0]),  # no rack has
    ],
)
def test_better_tiers_are_waited_for(gpus: int, expected: list[float]) -> None:
    """The timers of tiers that a job could never have do not count."""
    assert waits(lambda tier, _gpus: (12, 24)[tier], gpus) == expected


def test_an_outer_tier_is_not_accepted_before_an_inner_one() -> None:
    """Where an inner timer is the longer one it counts for the outer tier too."""
    assert waits(lambda tier, _gpus: (24, 12)[tier], 2) == [0, 24, 24]


def test_timers_may_depend_on_the_demand() -> None:
    """A timer is asked for the demand of the job."""
    assert waits(lambda tier, gpus: 10 * gpus + tier, 2) == [0, 20, 21]


def test_two_extremes() -> None:
    """Who never waits accepts everything, who always waits accepts the best tier only."""
    assert waits(never_waits, 1) == [0, 0, 0]
    assert waits(always_waits, 1) == [0, inf, inf]
