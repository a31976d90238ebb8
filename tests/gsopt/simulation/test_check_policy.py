"""check_policy and the metrics refuse what is wrong."""

from collections.abc import Iterable

import pytest

from gsopt.core.errors import Contradiction
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.simulation import Action, Decider, Start, State, replay
from gsopt.testing import check_policy
from heuristics.policies import fifo, srtf
from tests.gsopt.simulation.scenarios import bundle

_SCENARIO = Scenario(
    workload=bundle([Job(name=name, release_date=0, duration=2, gpus=1) for name in "ab"]),
    cluster=Cluster.plain(1),
)


class _Lazy:
    preemptive = False

    def decide(self, state: State) -> Iterable[Action]:
        return [Start(job) for job in state.arrived[:1]]


def test_a_starving_policy_fails() -> None:
    """Every job has to complete."""

    def lazy(state: State) -> Decider:
        del state
        return _Lazy()

    with pytest.raises(AssertionError, match="1 jobs never complete"):
        check_policy(lazy, [_SCENARIO])


def test_a_policy_with_hidden_state_fails() -> None:
    """Two runs have to be equal."""
    seeds = iter(range(100))

    def moody(state: State) -> Decider:
        return (fifo, srtf)[next(seeds) % 2](state)

    uneven = _SCENARIO.model_copy(
        update={
            "workload": bundle(
                [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 3), ("b", 1)]]
            )
        }
    )
    with pytest.raises(AssertionError, match="differ"):
        check_policy(moody, [uneven])


def test_nothing_to_check_fails() -> None:
    """A check of no scenario is no check."""
    with pytest.raises(AssertionError, match="no scenario"):
        check_policy(fifo, [])


def test_beating_a_bound_is_a_contradiction() -> None:
    """A bound above what a policy reaches is wrong, and is not passed over."""
    with pytest.raises(Contradiction, match=r"better than the bound 3\.5"):
        replay(_SCENARIO, fifo, bound=3.5)
