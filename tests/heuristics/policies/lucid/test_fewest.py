"""Fewest machines: on how many a job must run, and where."""

from collections.abc import Iterable
from itertools import combinations
from random import Random
from typing import Any

import pytest

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Leave
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange
from gsopt.simulation import Action, Start, State, simulate
from gsopt.simulation.parts.tiers import need_of
from heuristics.policies.lucid.machines import FewestMachines
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing


def answers(cluster: Cluster, held: list[int], jobs: list[Job], **physics: Any) -> list[tuple[int, ...] | None]:
    """Return where each job could start at 1 s beside one that holds some GPUs."""
    found: list[tuple[int, ...] | None] = []

    def look(state: State) -> Iterable[Action]:
        if state.arrived:
            yield Start(0, tuple(held))
            free = FewestMachines(state)
            free.look(state)
            found.extend(free.find(need_of(job)) for job in jobs)

    first = Job(name="first", release_date=1, duration=1, gpus=len(held))
    simulate(bundle([first]), doing(look), cluster=cluster, **physics)
    return found


def wanting(gpus: int, **fields: Any) -> Job:
    """Make a job of some GPUs."""
    return Job(name="a", release_date=0, duration=1, gpus=gpus, **fields)


@pytest.mark.parametrize("seed", range(cases(48)))
def test_no_other_set_of_gpus_needs_fewer_machines(seed: int) -> None:
    """A job gets GPUs on as few machines as it needs on the empty cluster whenever such GPUs are free."""
    random = Random(seed)
    sizes = [[random.randint(1, 3) for _ in range(random.randint(1, 2))] for _ in range(2)]
    cluster = Cluster(
        racks=[
            Rack(name=f"r{r}", machines=[Machine(name=f"m{r}.{m}", gpus=gpus) for m, gpus in enumerate(own)])
            for r, own in enumerate(sizes)
        ]
    )
    every = range(cluster.gpus)
    held = random.sample(every, random.randint(1, cluster.gpus))
    free = [gpu for gpu in every if gpu not in held]
    jobs = [wanting(gpus) for gpus in range(1, cluster.gpus + 1)]

    def least(among: Iterable[int], count: int) -> int:
        sets = combinations(among, count)
        return min((len({cluster.machine_of[gpu] for gpu in some}) for some in sets), default=99)

    for job, chosen in zip(jobs, answers(cluster, sorted(held), jobs), strict=True):
        if least(free, job.gpus) > least(every, job.gpus):
            assert chosen is None
        else:
            assert chosen is not None
            assert set(chosen) <= set(free)
            assert len(chosen) == job.gpus
            assert least(chosen, job.gpus) == least(every, job.gpus)


def test_best_fit() -> None:
    """Of the machines that suffice it is the one with the fewest free GPUs."""
    cluster = Cluster.uniform(machines=3, gpus=4)
    assert answers(cluster, [0, 4, 5], [wanting(2), wanting(3), wanting(5)]) == [
        (6, 7),
        (1, 2, 3),
        (1, 8, 9, 10, 11),
    ]


def test_fewest_machines_come_before_one_rack() -> None:
    """A job leaves a rack where it would need more machines than elsewhere."""
    sizes = [[1], [1, 1, 1], [2, 2]]
    racks = [
        Rack(name=f"r{r}", machines=[Machine(name=f"m{r}.{m}", gpus=gpus) for m, gpus in enumerate(own)])
        for r, own in enumerate(sizes)
    ]
    assert answers(Cluster(racks=racks), [0], [wanting(2), wanting(3)]) == [(4, 5), (4, 5, 6)]


def test_what_suits() -> None:
    """Only machines of the type and with the memory of a job count, for what it needs as well."""
    machines = [Machine(name="x", gpus=4, gpu_type="x", memory=8)]
    machines += [Machine(name=f"y{i}", gpus=1, gpu_type="y", memory=16) for i in range(2)]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    jobs = [wanting(2), wanting(2, gpu_type="y"), wanting(2, memory=9), wanting(3, memory=9)]
    assert answers(cluster, [0], jobs) == [(1, 2), (4, 5), (4, 5), None]


def test_machines_that_are_gone_do_not_count() -> None:
    """On what is left of a machine a job may be spread that one machine would hold otherwise."""
    cluster = Cluster.uniform(machines=2, gpus=2)
    less = [CapacityChange(time=0, gpus=3)]
    assert answers(cluster, [0], [wanting(2), wanting(3)], capacity_changes=less) == [None, None]
    assert answers(cluster, [2], [wanting(2)], capacity_changes=less) == [(0, 1)]


def test_machines_that_have_left_do_not_count() -> None:
    """Where the large machine has left a job may be spread over small ones."""
    machines = [Machine(name="large", gpus=3), Machine(name="a", gpus=2), Machine(name="b", gpus=2)]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    jobs = [wanting(3)]
    assert answers(cluster, [3], jobs) == [(0, 1, 2)]
    assert answers(cluster, [3], jobs, events=[Leave(time=0, servers=["large"])]) == [(4, 5, 6)]
