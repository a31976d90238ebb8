"""Candidate: the times that are left, and the numbers of GPUs that there are."""

from typing import Any

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Phase
from gsopt.scenario.scenario import CapacityChange
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.simulation import State, simulate
from heuristics.policies import equal_share
from heuristics.policies.optimus.candidates import Candidate, Candidates
from tests.gsopt.simulation.scenarios import bundle


def seen(*jobs: Job, **given: Any) -> list[list[Candidate]]:
    """Return the candidates that each event of a run shows."""
    found = []

    def watched(state: State) -> Any:
        decider, candidates = equal_share(state), Candidates(state)
        there: set[int] = set()

        class Watching:
            preemptive = False

            def decide(self, state: State) -> Any:
                there.update(state.arrived)
                there.difference_update(state.completed)
                found.append(candidates.of(state, sorted(there)))
                return decider.decide(state)

        return Watching()

    simulate(bundle(jobs), watched, **given)
    return found


MENU = [(1, 1.0), (2, 1.5), (4, 2.0)]


def test_slow_phases_count_on_all_numbers_alike() -> None:
    """In a phase at half the speed everything that is left takes twice as long."""
    job = Job(name="a", release_date=0, duration=60, gpus=1, menu=MENU, phases=[Phase(until=1, slowdown=2)])
    assert seen(job, cluster=4)[0][0].left == (120.0, 80.0, 60.0)


def test_phases_are_those_of_now() -> None:
    """When a slow phase is over, less is left than by the speed at the beginning."""
    phases = [Phase(until=0.5, slowdown=2), Phase(until=1)]
    slow = Job(name="a", release_date=0, duration=60, gpus=1, phases=phases)
    other = Job(name="b", release_date=60, duration=1, gpus=1)
    assert [each.left for each in seen(slow, other, cluster=2)[1]] == [(30.0,), (1.0,)]


def test_wide_numbers_are_on_their_best_tier() -> None:
    """On more GPUs than a machine has a job pays for the network between machines."""
    speed = Speed(tiers={"wild": TierPenalty(machine=0.0, rack=1.0, network=1.0)})
    job = Job(name="a", release_date=0, duration=60, gpus=1, menu=MENU, model="wild")
    cluster = Cluster.uniform(machines=2, gpus=2)
    assert seen(job, cluster=cluster, speed=speed)[0][0].left == (60.0, 40.0, 60.0)


def test_gpus_that_are_away_are_not_asked_for() -> None:
    """While GPUs are away the larger numbers are left out, and a job without any other contends for none."""
    rigid = Job(name="b", release_date=0, duration=60, gpus=2)
    elastic = Job(name="a", release_date=0, duration=60, gpus=1, menu=MENU)
    changes = [CapacityChange(time=0, gpus=1), CapacityChange(time=30, gpus=4)]
    first, second, *_ = seen(elastic, rigid, cluster=4, capacity_changes=changes)
    assert [each.counts for each in first] == [(1,)]
    assert [each.counts for each in second] == [(1, 2, 4), (2,)]
