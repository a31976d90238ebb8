"""Migrating: nobody is further apart than the free GPUs and his own make necessary."""

from random import Random
from typing import Any

import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.simulation import Decider, State, simulate
from gsopt.simulation.placer import FreeGpus, consolidated
from heuristics.policies.gandiva.migrating import Migrating
from tests.gsopt.simulation.scenarios import bundle


@pytest.mark.parametrize("seed", range(6))
def test_after_every_decision_nobody_could_move_closer(seed: int) -> None:
    """Whoever is not on the best tier finds no better one among the GPUs that are free then, and his own."""
    random = Random(seed)
    cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    jobs = bundle(
        Job(
            name=str(i),
            release_date=random.randint(0, 30),
            duration=random.randint(1, 12),
            gpus=random.randint(1, 9),
        )
        for i in range(30)
    )
    looked = 0

    def watched(state: State) -> Decider:
        inner = Migrating(state, lease=random.choice([None, 5.0]))

        class Watched:
            preemptive = True

            def decide(self, state: State) -> Any:
                nonlocal looked
                yield from inner.decide(state)
                for job in state.running:
                    own = state.placement(job)
                    free: list[list[int]] = [[] for _ in cluster.machines]
                    for gpu in sorted((*state.free_gpus(), *own)):
                        free[cluster.machine_of[gpu]].append(gpu)
                    other = consolidated(FreeGpus(cluster, range(len(free)), free), len(own))
                    levels = [cluster.levels.index(cluster.tier(gpus)) for gpus in (own, other)]
                    assert levels[0] <= levels[1]
                    looked += 1

        return Watched()

    simulate(jobs, watched, cluster=cluster)
    assert looked > 50
