"""Clusters number their GPUs and know their tiers."""

import networkx as nx
import pytest
from pydantic import ValidationError

from gsopt.cluster import Cluster, Machine, Rack, Tier

_TREE = Cluster(
    racks=(
        Rack(name="r0", machines=(Machine(name="m0", gpus=2), Machine(name="m1", gpus=1))),
        Rack(name="r1", machines=(Machine(name="m2", gpus=3),)),
    )
)


def test_numbers() -> None:
    """GPUs are numbered rack by rack and machine by machine."""
    assert _TREE.gpus == 6
    assert _TREE.machine_of == (0, 0, 1, 2, 2, 2)
    assert _TREE.rack_of == (0, 0, 1)
    assert _TREE.gpus_of == {"m0": range(2), "m1": range(2, 3), "m2": range(3, 6)}


def test_room() -> None:
    """GPUs count that have the type and the memory; memory that is not looked at suffices for anything."""
    machines = (
        Machine(name="m0", gpus=2, gpu_type="old", memory=10),
        Machine(name="m1", gpus=3, gpu_type="new", memory=40),
        Machine(name="m2", gpus=4, gpu_type="new"),
    )
    cluster = Cluster(racks=(Rack(name="r", machines=machines),))
    rooms = [cluster.room(kind, memory) for kind in ("", "old", "new", "none") for memory in (10, 40, 41)]
    assert rooms == [9, 7, 4, 2, 0, 0, 7, 7, 4, 0, 0, 0]
    assert (Cluster.plain(5).room("", 99), Cluster.plain(5).room("old")) == (5, 0)


@pytest.mark.parametrize(
    ("gpus", "tier"),
    [
        ([0], Tier.MACHINE),
        ([0, 1], Tier.MACHINE),
        ([1, 2], Tier.RACK),
        ([2, 3], Tier.NETWORK),
        ([3, 5], Tier.MACHINE),
    ],
)
def test_tiers(gpus: list[int], tier: Tier) -> None:
    """The tier is the lowest level that joins all GPUs."""
    assert _TREE.tier(gpus) is tier


@pytest.mark.parametrize("cluster", [_TREE, Cluster.plain(5)])
def test_the_graph_is_a_tree(cluster: Cluster) -> None:
    """The graph is a tree whose leaves are the GPUs."""
    graph = cluster.graph()
    assert nx.is_tree(graph)
    assert sorted(node for node in graph if graph.degree(node) == 1) == list(range(cluster.gpus))


@pytest.mark.parametrize(
    ("plain", "racks", "reason"),
    [
        (0, (), "plain_gpus"),
        (4, _TREE.racks, "plain_gpus"),
        (0, (_TREE.racks[0], _TREE.racks[0]), "must name one"),
        (-1, (), "plain_gpus"),
    ],
)
def test_bad_clusters(plain: int, racks: tuple[Rack, ...], reason: str) -> None:
    """A cluster is plain or of racks, with names of its own."""
    with pytest.raises(ValidationError, match=reason):
        Cluster(plain_gpus=plain, racks=racks)
