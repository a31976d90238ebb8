"""Tiers: the best that a job could have is a matter of the empty cluster, its type and its memory."""

from collections.abc import Iterable
from itertools import combinations
from random import Random
from typing import Any

import pytest

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.simulation import Action, Start, State, simulate
from gsopt.simulation.parts.tiers import Tiers
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing


def answers(cluster: Cluster, jobs: list[Job], speed: Speed | None = None) -> list[tuple[int, Any]]:
    """Return the best tier of each job, and its speed there, before anything runs."""
    found: list[tuple[int, Any]] = []

    def look(state: State) -> Iterable[Action]:
        if not found:
            tiers = Tiers(state)
            found.extend((tiers.best(state.jobs[job]), tiers.fastest(state, job)) for job in state.arrived)
        return map(Start, state.arrived[:1])

    simulate(bundle(jobs), doing(look), cluster=cluster, speed=speed or Speed())
    return found


@pytest.mark.parametrize("seed", range(cases(12)))
def test_the_best_tier_is_that_of_the_best_set(seed: int) -> None:
    """Of all sets of as many GPUs that suit a job, the closest has its best tier."""
    random = Random(seed)
    racks = [
        Rack(
            name=f"r{r}",
            machines=[
                Machine(name=f"m{r}.{m}", gpus=random.randint(1, 3), gpu_type=random.choice("xy"))
                for m in range(random.randint(1, 2))
            ],
        )
        for r in range(2)
    ]
    cluster = Cluster(racks=racks)
    type_of = [cluster.machines[machine].gpu_type for machine in cluster.machine_of]
    jobs = [
        Job(name=f"{kind}{gpus}", release_date=0, duration=1, gpus=gpus, gpu_type=kind)
        for kind in ("", "x", "y")
        for gpus in range(1, cluster.room(kind) + 1)
    ]
    for job, (best, _) in zip(jobs, answers(cluster, jobs), strict=True):
        suit = [gpu for gpu, kind in enumerate(type_of) if job.gpu_type in {"", kind}]
        closest = min(cluster.levels.index(cluster.tier(some)) for some in combinations(suit, job.gpus))
        assert best == closest


def test_speeds_on_the_best_tier() -> None:
    """A job that fits a machine has the speed of a machine, a larger one that of a rack, or of the network."""
    speed = Speed(tiers={"cnn": TierPenalty(machine=0.25, rack=1.0, network=3.0)})
    jobs = [Job(name=str(n), release_date=0, duration=1, gpus=n, model="cnn") for n in (1, 2, 3, 5)]
    found = answers(Cluster.uniform(racks=2, machines=2, gpus=2), jobs, speed)
    assert found == [(0, 1), (0, 0.8), (1, 0.5), (2, 0.25)]


def test_a_plain_cluster_has_one_tier() -> None:
    """All its GPUs are as close as can be."""
    jobs = [Job(name=str(n), release_date=0, duration=1, gpus=n) for n in (1, 4)]
    assert answers(Cluster.plain(4), jobs) == [(0, 1), (0, 1)]


def test_memory_counts() -> None:
    """Machines of too little memory are none."""
    machines = [Machine(name="small", gpus=4, memory=16), Machine(name="large", gpus=2, memory=80)]
    cluster = Cluster(racks=[Rack(name=m.name + "'s", machines=[m]) for m in machines])
    jobs = [Job(name=str(m), release_date=0, duration=1, gpus=3, memory=m) for m in (16, 0)]
    jobs.append(Job(name="both", release_date=0, duration=1, gpus=6, memory=8))
    assert [best for best, _ in answers(cluster, jobs)] == [0, 0, 2]
