"""Draining a cluster that runs: nodes as those of openb, held by gangs, and what one by one costs.

The 1,213 nodes have the sizes of Alibaba's openb cluster. Gangs of 1 to 32 GPUs stand on neighbouring nodes,
but for a quarter or half of the GPUs, which are scattered; then a tenth of the gangs is over. ``pytest -s``
prints what the README shows.
"""

from random import Random
from statistics import mean
from time import process_time

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from gsopt.core.result import Status
from gsopt.problems.placement import Resources
from gsopt.snapshots import Drain, Gang, Node, Part, Snapshot, drain
from tests.benchmarks.measures import report

#: Number of nodes with so many GPUs.
_NODES = {8: 617, 4: 54, 2: 518, 1: 24}
_WIDTHS = (1, 1, 1, 1, 2, 4, 8, 8, 16, 32)
_SEEDS = range(3)


def cluster(scattered: float, seed: int, idle: float = 0.1) -> Snapshot:
    """Fill the nodes with gangs, a part of which stand on any GPUs that are free.

    Parameters
    ----------
    scattered
        Share of the GPUs on which gangs are scattered.
    seed
        Seed of widths and places.
    idle
        Share of the gangs that are over.
    """
    random = Random(seed)
    sizes = [gpus for gpus, number in _NODES.items() for _ in range(number)]
    slots = [node for node, gpus in enumerate(sizes) for _ in range(gpus)]
    chosen = [index for index in range(len(slots)) if random.random() < scattered]
    moved = [slots[index] for index in chosen]
    random.shuffle(moved)
    for index, node in zip(chosen, moved, strict=True):
        slots[index] = node
    gangs: list[Gang] = []
    at = 0
    while at < len(slots):
        held = slots[at : at + random.choice(_WIDTHS)]
        at += len(held)
        if random.random() >= idle:
            gangs.append(_gang(f"g{len(gangs)}", held))
    nodes = [Node(name=f"n{index:04}", gpus=gpus) for index, gpus in enumerate(sizes)]
    return Snapshot(nodes=nodes, gangs=gangs)


def _gang(name: str, held: list[int]) -> Gang:
    parts = [
        Part(node=f"n{node:04}", gpus=float(held.count(node)), needs=Resources(gpu=held.count(node)))
        for node in dict.fromkeys(held)
    ]
    return Gang(name=name, kind="Job", parts=parts)


@pytest.mark.benchmark(group="drain: 1,213 nodes")
@pytest.mark.parametrize("servers", [20, 100])
@pytest.mark.parametrize("scattered", [0.25, 0.5])
def test_drain(benchmark: BenchmarkFixture, scattered: float, servers: int) -> None:
    """The fewest jobs are proven, and no rule loses fewer; how long the proof takes is printed."""
    snapshots = [cluster(scattered, seed) for seed in _SEEDS]
    drain(snapshots[0], servers)  # whatever is imported and compiled
    found: Drain = benchmark(drain, snapshots[0], servers)
    begin = process_time()
    all_found = [found, *(drain(snapshot, servers) for snapshot in snapshots[1:])]
    taken = (process_time() - begin) / len(snapshots[1:])

    assert all(each.result is not None and each.result.status is Status.OPTIMAL for each in all_found)
    rules = {name: mean(float(each.rules[name]) for each in all_found) for name in found.rules}
    best = mean(len(each.preempted) for each in all_found)
    assert min(rules.values()) >= best
    report(f"scattered {scattered:.0%}, {servers} nodes: {best:.1f} jobs; {rules}; {taken:.2f} s")
