"""Divisions of the time among jobs and pairs."""

import pytest

from gsopt.cluster import Cluster
from gsopt.job import Job
from gsopt.simulation import Decider, State, simulate
from gsopt.simulation.deciders.inventory import Inventory
from gsopt.simulation.deciders.packing import Packing
from gsopt.simulation.deciders.received import Portions
from gsopt.simulation.deciders.rounds import Rounds
from tests.gsopt.simulation.scenarios import bundle


@pytest.mark.parametrize("pairing", ["random", "exact"])
def test_units_have_equal_parts(pairing: str) -> None:
    """Three jobs of one GPU on one are a pair and a job, each with half of the time; two of two have turns."""
    found: list[tuple[Portions, dict[int, int]]] = []

    def watched(state: State) -> Decider:
        packing = Packing("exact" if pairing == "exact" else "random")

        def divide(state: State, jobs: list[int], inventory: Inventory) -> Portions:
            portions = packing(state, jobs, inventory)
            found.append((portions, dict(packing.pairs)))
            return portions

        return Rounds(state, divide, pairs=lambda: packing.pairs)  # type: ignore[arg-type]

    jobs = bundle(Job(name=name, release_date=0, duration=100, gpus=1) for name in "abc")
    simulate(jobs, watched, cluster=Cluster.uniform(machines=1, gpus=1), share_limit=2)
    portions, pairs = found[0]
    assert len(pairs) == 2
    assert all(pairs[other] == job for job, other in pairs.items())
    units = [job for job in range(3) if pairs.get(job, job) >= job]
    assert {job: dict(own) for job, own in portions.items()} == {
        job: {"gpu": 0.5} if job in units else {} for job in range(3)
    }
