"""Offers: who is offered what, when, and for how long."""

from random import Random
from typing import Any

import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Scenario
from gsopt.simulation import Decider, State, replay, simulate
from gsopt.simulation.parts.offers import Offers
from gsopt.simulation.parts.patience import Timers, always_waits, never_waits
from heuristics.policies import fifo_skipping
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import workload


class Asked:
    """Patience that keeps what it is asked and told; jobs wait for so many seconds, each one in its turn."""

    def __init__(self, *waits: float) -> None:
        self.waits = waits
        self.asked: list[tuple[Any, int, int]] = []
        self.told: list[tuple[int, int, Any]] = []

    def seconds(self, state: State, job: int, tier: int, gpus: tuple[int, ...], /) -> float:
        """Return the same seconds for every tier."""
        assert len(gpus) in {0, state.jobs[job].gpus}
        self.asked.append((state.now, job, tier))
        return self.waits[job % len(self.waits)]

    def accept(self, _state: State, job: int, tier: int, waited: Any, /) -> None:
        """Note what has been accepted."""
        assert waited >= self.waits[job % len(self.waits)]
        self.told.append((job, tier, waited))


def test_jobs_are_asked_when_there_is_an_offer() -> None:
    """A job is asked as long as enough GPUs are free, again when it would accept, and told when it does."""
    patience = Asked(3.0)
    run = simulate(workload((0, 9, 2), (0, 9, 2)), lambda state: Offers(state, patience), cluster=3)
    assert run.start_times == (3, 12)
    assert patience.asked == [(0, 0, 0), (0, 1, 0), (3, 0, 0), (12, 1, 0)]
    assert patience.told == [(0, 0, 3), (1, 0, 12)]


@pytest.mark.parametrize("waits", [(3.0, 7.0), (7.0, 3.0)])
def test_each_job_accepts_when_its_own_time_has_come(waits: tuple[float, float]) -> None:
    """Of several jobs that decline, the first to change its mind is asked then, wherever it stands."""
    jobs = workload((0, 9, 2), (0, 9, 2))
    assert simulate(jobs, lambda state: Offers(state, Asked(*waits)), cluster=4).start_times == waits


def test_offers_go_in_the_order_of_keys() -> None:
    """The smallest key comes first; of equal keys who has waited longer, then the lower number."""

    def policy(state: State) -> Decider:
        return Offers(state, Timers(state, never_waits), lambda state, job: -state.jobs[job].gpus)

    assert simulate(workload((0, 1, 1), (0, 1, 2), (0, 1, 2), (0, 1, 3)), policy, cluster=3).start_times == (
        1,
        1,
        2,
        0,
    )


def test_without_patience_it_is_list_scheduling() -> None:
    """Jobs that accept anything start as `fifo_skipping` starts them, whatever the cluster."""
    random = Random(4)
    cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    for _ in range(20):
        jobs = bundle(
            Job(
                name=str(i),
                release_date=random.randint(0, 20),
                duration=random.randint(1, 9),
                gpus=random.randint(1, 16),
            )
            for i in range(25)
        )
        for gpus in (cluster, Cluster.plain(16)):
            scenario = Scenario(workload=jobs, cluster=gpus)
            offered = replay(scenario, lambda state: Offers(state, Timers(state, never_waits)))
            assert offered.completion_times == replay(scenario, fifo_skipping).completion_times


def test_leases_on_an_epoch_clock_end() -> None:
    """A lease that is shorter than a tick of the clock ends at the next one."""

    def policy(state: State) -> Decider:
        return Offers(state, Timers(state, always_waits), lease=1e-9)

    late = workload((0, 1e-6, 1), (1e12, 0.001, 1))
    assert simulate(late, policy, cluster=1).completion_times[1] > 1e12


@pytest.mark.parametrize("exact", [False, True])
def test_leases_end_together(exact: bool) -> None:
    """All leases that end at one time are offered anew at once, and who has waited comes first."""

    def policy(state: State) -> Decider:
        return Offers(state, Timers(state, never_waits), lease=2)

    jobs = workload((0, 4, 1), (0, 4, 1), (1, 1, 2))
    assert simulate(jobs, policy, cluster=2, exact=exact).completion_times == (5, 5, 3)
