"""Paths and bottlenecks are those of the tree."""

from itertools import combinations, pairwise

import networkx as nx
from hypothesis import given, settings

from gsopt.scenario.cluster import Cluster, Link, Machine, Switch
from tests.strategies.topology import trees


@settings(max_examples=30, deadline=None)
@given(trees(linked=True))
def test_paths_and_bottlenecks(cluster: Cluster) -> None:
    """They are what networkx finds on the whole tree: the path, the least rate, and the longest latency."""
    tree = cluster.graph()
    for gpus in [*combinations(range(cluster.gpus), 2)][:12] + [*combinations(range(cluster.gpus), 3)][-12:]:
        paths = [nx.shortest_path(tree, one, other) for one, other in combinations(gpus, 2)]
        assert cluster.path(gpus[0], gpus[1]) == tuple(paths[0])
        links = [[tree.edges[step] for step in pairwise(path)] for path in paths]
        found = cluster.bottleneck(gpus)
        assert found is not None
        assert found.bandwidth == min(
            min(edge["bandwidth"], edge.get("capacity", edge["bandwidth"])) for path in links for edge in path
        )
        assert found.latency == max(sum(edge["latency"] for edge in path) for path in links)


@settings(max_examples=10, deadline=None)
@given(trees(linked=False))
def test_unknown_links_have_no_bottleneck(cluster: Cluster) -> None:
    """Nothing is said of links that are not known, nor of one GPU, which needs none."""
    assert cluster.bottleneck(range(cluster.gpus)) is None
    assert cluster.bottleneck([]) is None
    assert cluster.path(0, 0) == (0,)


def test_one_gpu_needs_no_link() -> None:
    """One GPU has no bottleneck, two of one machine that of their own links, whatever was asked before."""
    fast, slow = Link(bandwidth=8.0, latency=1.0), Link(bandwidth=2.0, latency=4.0, capacity=1.0)
    machines = [Machine(name=name, gpus=2, gpu_link=fast, uplink=slow) for name in "ab"]
    cluster = Cluster(network=Switch(name="top", level="network", machines=machines))
    assert cluster.bottleneck([0]) is None
    assert cluster.bottleneck([0, 1]) == Link(bandwidth=8.0, latency=2.0)
    assert cluster.bottleneck([1]) is None
    assert cluster.bottleneck([0, 3]) == cluster.bottleneck(range(4)) == Link(bandwidth=1.0, latency=10.0)


def test_latencies_add_up_whatever_they_are() -> None:
    """What a link may take at most, two of them may take twice."""
    slowest = Link(bandwidth=1e-9, latency=1e9)
    machine = Machine(name="m", gpus=2, gpu_link=slowest, uplink=slowest)
    cluster = Cluster(network=Switch(name="top", level="network", machines=[machine]))
    assert cluster.bottleneck([0, 1]) == Link.model_construct(bandwidth=1e-9, latency=2e9, capacity=None)
