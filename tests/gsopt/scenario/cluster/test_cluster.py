"""Clusters number their GPUs and know their tiers."""

from typing import Any

import networkx as nx
import pytest
from pydantic import ValidationError

from gsopt.scenario.cluster import Cluster, Island, Link, Machine, Rack, Switch, Tier

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


def _network(
    *, spine: Link | None = None, up: Link | None = None, gpu: Link | None = None, name: str = "r"
) -> Switch:
    """Make a network of two racks, the second of which has the links that are known."""
    racks = [
        Rack(name="q", machines=[Machine(name="m0", gpus=2)]),
        Rack(name=name, machines=[Machine(name="m1", gpus=2, gpu_link=gpu)], uplink=up),
    ]
    return Switch(name="spine", level="network", switches=racks, uplink=spine)


_LINK = Link(bandwidth=1.0)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"racks": _TREE.racks, "network": _network()}, "network: 'spine': must not be given beside racks"),
        ({"plain_gpus": 4, "network": _network()}, "plain_gpus: 4"),
        ({"network": _network(spine=_LINK)}, "network.uplink: 'spine': must not be given"),
        ({"network": _network(up=_LINK)}, "uplink: 'q': must have a bandwidth, as others of its kind do"),
        ({"network": _network(gpu=_LINK)}, "gpu_link: 'm0': must have a bandwidth"),
        ({"network": _network(name="q")}, "network: 'q': must name one"),
        ({"network": _network(name="m0")}, "network: 'm0': must name one"),
        ({"network": _network(name="spine")}, "network: 'spine': must name one"),
    ],
)
def test_bad_networks(given: dict[str, Any], reason: str) -> None:
    """A network stands alone, knows all links of a kind or none, and has names of its own."""
    with pytest.raises(ValidationError, match=reason):
        Cluster(**given)


def test_bad_parts() -> None:
    """Islands hold the GPUs of their machine, something is below a switch, and its level is its own."""
    with pytest.raises(ValidationError, match="islands: 3: must hold the 4 GPUs of machine 'm'"):
        Machine(name="m", gpus=4, islands=[Island(name="i", gpus=3)])
    with pytest.raises(ValidationError, match="nothing is below switch 's'"):
        Switch(name="s", level="pod")
    for level in ("gpu", "island", "machine"):
        with pytest.raises(ValidationError, match=f"level: '{level}': must be a level of switches"):
            Switch(name="s", level=level, machines=[Machine(name="m", gpus=4)])


def test_a_rack_in_a_network_is_a_switch() -> None:
    """It names its level there, so that a network that is written reads as it was."""
    cluster = Cluster(network=_network())
    assert [(type(switch), switch.level) for switch in cluster.root.switches] == [(Switch, "rack")] * 2
    assert Cluster.model_validate_json(cluster.model_dump_json()) == cluster
    assert cluster.levels == ("machine", "rack", "network")


def test_what_is_not_given_is_not_written() -> None:
    """Clusters of racks are written as before there were links and levels: files and keys of studies stay."""
    assert _TREE.model_dump(mode="json") == {
        "plain_gpus": 0,
        "racks": [
            {
                "name": rack.name,
                "machines": [
                    {"name": machine.name, "gpus": machine.gpus, "gpu_type": "", "memory": None}
                    for machine in rack.machines
                ],
            }
            for rack in _TREE.racks
        ],
    }
    linked = _TREE.racks[0].model_copy(update={"uplink": _LINK})
    assert linked.model_dump(mode="json").keys() == {"name", "machines", "uplink"}


def test_the_root_of_racks_has_a_name_of_its_own() -> None:
    """A rack may be called what the root is called otherwise."""
    cluster = Cluster(racks=[Rack(name="datacenter", machines=[Machine(name="m", gpus=1)])])
    assert cluster.root.name == "datacenter 1"
    assert Cluster.from_graph(cluster.graph()) == cluster
