"""Speed of networks: reading 10,000 machines, and what questions about tiers cost a simulation."""

from functools import cache
from random import Random
from typing import Any

import networkx as nx
import pytest

from gsopt.scenario.cluster import Cluster, Island, Machine, Switch
from gsopt.scenario.cluster.levels import Levels
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import TIER_PENALTIES, Speed
from gsopt.simulation import replay
from heuristics.policies import fifo_skipping
from tests.benchmarks.measures import least_seconds, once, report

pytestmark = pytest.mark.slow


@cache
def _network(zones: int = 5, pods: int = 10, racks: int = 10, machines: int = 20) -> Cluster:
    """Make 10,000 machines of eight GPUs on two islands, in racks, pods and zones."""

    def machine(name: str) -> Machine:
        return Machine(name=name, gpus=8, islands=[Island(name=f"{name} {side}", gpus=4) for side in "lr"])

    def below(name: str, levels: tuple[tuple[str, int], ...]) -> Switch:
        (level, number), *inner = levels
        if not inner:
            return Switch(
                name=name, level=level, machines=[machine(f"{name}.{each}") for each in range(number)]
            )
        return Switch(
            name=name, level=level, switches=[below(f"{name}.{each}", tuple(inner)) for each in range(number)]
        )

    shape = (("network", zones), ("zone", pods), ("pod", racks), ("rack", machines))
    return Cluster(network=below("n", shape))


def _plain_tree(nodes: int) -> Any:
    """Make a tree of as many nodes by networkx, with data on every node and edge."""
    tree = nx.Graph()
    tree.add_node(0, kind="root")
    for node in range(1, nodes):
        tree.add_node(node, kind="node")
        tree.add_edge((node - 1) // 8, node, tier="some")
    return tree


def test_reading(benchmark: Any) -> None:
    """10,000 machines are read from a graph and numbered in 15 times the time of making a tree of that size."""
    cluster = _network()
    graph = cluster.graph()

    def read() -> Cluster:
        found = Cluster.from_graph(graph)
        assert found.best_tier(9) == "rack"
        assert len(found.groups["island"]) == 20_000
        return found

    assert once(benchmark, read) == cluster
    plain, own = least_seconds(lambda: _plain_tree(len(graph))), least_seconds(read)
    counts = least_seconds(lambda: Cluster.from_graph(cluster.graph(gpus=False)))
    data = cluster.model_dump_json()
    json = least_seconds(lambda: Cluster.model_validate_json(data).best_tier(9))
    report(
        f"{len(graph):,} nodes: networkx tree {plain:.2f} s, from_graph {own:.2f} s, "
        f"{own / plain:.1f} times; "
        f"without GPUs {counts:.2f} s, JSON {json:.2f} s"
    )
    assert own < 15 * plain


def _workload(jobs: int = 5_000) -> Workload:
    random, now, drawn = Random(1), 0.0, []
    for index in range(jobs):
        now += random.expovariate(1 / 8)
        gpus, model = random.choice([1, 2, 4, 8, 16, 32]), random.choice(list(TIER_PENALTIES))
        duration = random.lognormvariate(7, 1)
        drawn.append(Job(name=str(index), release_date=now, duration=duration, gpus=gpus, model=model))
    return Workload(jobs=drawn)


def test_tiers_in_a_simulation(benchmark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions about tiers take less than a tenth of a simulation's time."""
    cluster = _network(zones=2, pods=2, racks=4, machines=8)
    speed = Speed(tiers=dict(TIER_PENALTIES))
    scenario = Scenario(workload=_workload(), cluster=cluster, speed=speed)

    def run() -> None:
        replay(scenario, fifo_skipping)

    once(benchmark, run)
    whole = least_seconds(run)
    asked: list[tuple[int, int]] = []
    answer = Levels.join

    def count(self: Levels, first: int, last: int) -> str:
        asked.append((first, last))
        return answer(self, first, last)

    with monkeypatch.context() as patch:
        patch.setattr(Levels, "join", count)
        run()
    assert len(asked) >= len(scenario.workload.jobs)

    def ask() -> None:
        for first, last in asked:
            cluster.numbered.join(first, last)

    questions = least_seconds(ask)
    report(f"{len(asked):,} questions about tiers: {questions:.4f} s of {whole:.2f} s, {questions / whole:.2%}")
    assert questions < 0.1 * whole
