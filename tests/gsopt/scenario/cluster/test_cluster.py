"""Clusters number their GPUs, and know their levels, tiers and routes."""

from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Island, Link, Machine, Rack, Switch, Tier
from gsopt.scenario.speed import TIER_PENALTIES
from tests.effort import cases
from tests.strategies.topology import trees
from tests.unwrap import unwrap

# Clusters number their GPUs and know their tiers


def _machine(name: str, gpus: int = 1) -> Machine:
    return Machine(name=name, gpus=gpus)


def _below(level: str, *switches: Switch | Rack, **fields: Any) -> Switch:
    """Return a switch that has the name of its level unless told otherwise."""
    return Switch(**{"name": level, "level": level, "switches": switches, **fields})


_TREE = Cluster(
    racks=(
        Rack(name="r0", machines=(_machine("m0", 2), _machine("m1"))),
        Rack(name="r1", machines=(_machine("m2", 3),)),
    )
)


def test_numbers_and_room() -> None:
    """GPUs are numbered by rack and machine; room is the most that a job can have."""
    assert _TREE.gpus == 6
    assert _TREE.machine_of == (0, 0, 1, 2, 2, 2)
    assert _TREE.rack_of == (0, 0, 1)
    assert _TREE.gpus_of == {"m0": range(2), "m1": range(2, 3), "m2": range(3, 6)}
    machines = (
        Machine(name="m0", gpus=2, gpu_type="old", memory=10),
        Machine(name="m1", gpus=3, gpu_type="new", memory=40),
        Machine(name="m2", gpus=4, gpu_type="new"),
    )
    cluster = Cluster(racks=(Rack(name="r", machines=machines),))
    rooms = [cluster.room(kind, memory) for kind in ("", "old", "new", "none") for memory in (10, 40, 41)]
    assert rooms == [9, 7, 4, 2, 0, 0, 7, 7, 4, 0, 0, 0]
    assert (Cluster.plain(5).room("", 99), Cluster.plain(5).room("old")) == (5, 0)


def test_tiers() -> None:
    """The tier is the lowest level that joins all GPUs."""
    tiers = [_TREE.tier(gpus) for gpus in ([0], [0, 1], [1, 2], [2, 3], [3, 5])]
    assert tiers == [Tier.MACHINE, Tier.MACHINE, Tier.RACK, Tier.NETWORK, Tier.MACHINE]
    assert all(isinstance(tier, Tier) for tier in tiers)


@pytest.mark.parametrize("cluster", [_TREE, Cluster.plain(5)])
def test_the_graph_is_a_tree(cluster: Cluster) -> None:
    """The graph is a tree whose leaves are the GPUs."""
    graph = cluster.graph()
    assert nx.is_tree(graph)
    assert sorted(node for node in graph if graph.degree(node) == 1) == list(range(cluster.gpus))


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
        ({}, "plain_gpus"),
        ({"plain_gpus": 4, "racks": _TREE.racks}, "plain_gpus"),
        ({"racks": [_TREE.racks[0], _TREE.racks[0]]}, "must name one"),
        ({"plain_gpus": -1}, "plain_gpus"),
        (
            {"racks": _TREE.racks, "network": _network()},
            "network: 'spine': must not be given together with racks",
        ),
        ({"plain_gpus": 4, "network": _network()}, "plain_gpus: 4"),
        ({"network": _network(spine=_LINK)}, "network.uplink: 'spine': must not be given"),
        ({"network": _network(up=_LINK)}, "uplink: 'q': must have a bandwidth, as others of its kind do"),
        ({"network": _network(gpu=_LINK)}, "gpu_link: 'm0': must have a bandwidth"),
        ({"network": _network(name="q")}, "network: 'q': must name one"),
        ({"network": _network(name="m0")}, "network: 'm0': must name one"),
        ({"network": _network(name="spine")}, "network: 'spine': must name one"),
    ],
)
def test_bad_clusters(given: dict[str, Any], reason: str) -> None:
    """A cluster is plain, of racks or a network, has all links of a kind or none, and names of its own."""
    with pytest.raises(ValidationError, match=reason):
        Cluster(**given)


def test_parts() -> None:
    """Islands hold the GPUs of their machine, racks of a network name their level, and the root has a name."""
    with pytest.raises(ValidationError, match="islands: 3: must hold the 4 GPUs of machine 'm'"):
        Machine(name="m", gpus=4, islands=[Island(name="i", gpus=3)])
    with pytest.raises(ValidationError, match="nothing is below switch 's'"):
        Switch(name="s", level="pod")
    for level in ("gpu", "island", "machine"):
        with pytest.raises(ValidationError, match=f"level: '{level}': must be a level of switches"):
            Switch(name="s", level=level, machines=[Machine(name="m", gpus=4)])
    cluster = Cluster(network=_network())
    assert [(type(switch), switch.level) for switch in cluster.root.switches] == [(Switch, "rack")] * 2
    assert Cluster.model_validate_json(cluster.model_dump_json()) == cluster
    assert cluster.levels == ("machine", "rack", "network")
    cluster = Cluster(racks=[Rack(name="datacenter", machines=[Machine(name="m", gpus=1)])])
    assert cluster.root.name == "datacenter 1"
    assert Cluster.from_graph(cluster.graph()) == cluster


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


# Levels are numbered once, and say of any GPUs what the tree says


_ISLANDS = [Island(name=f"island {number}", gpus=2) for number in range(2)]

_RACKS = [
    Rack(name="r0", machines=[Machine(name="m0", gpus=4, islands=_ISLANDS), _machine("m1", 4)]),
    Rack(name="r1", machines=[_machine("m2", 2)]),
    Rack(name="r2", machines=[_machine("m3")]),
]
_DEEP = Cluster(network=_below("network", _below("zone", *_RACKS[:2]), _RACKS[2], name="spine"))


def _joint(tree: Any, root: Any, gpus: list[int]) -> str:
    """Find by networkx the kind of the node that joins GPUs: their lowest common ancestor."""
    downward = nx.bfs_tree(tree, root)
    joint: Any = gpus[0]
    for gpu in gpus[1:]:
        joint = nx.lowest_common_ancestor(downward, joint, gpu)
    kind = tree.nodes[joint]["kind"]
    return "network" if kind == "datacenter" else str(kind)


def test_groups() -> None:
    """On every level stand the switches of that level, and what has none on its path, with what it has."""
    assert _DEEP.levels == ("island", "machine", "rack", "zone", "network")
    names = {level: [group.name for group in groups] for level, groups in _DEEP.groups.items()}
    alone = [f"GPU {number}" for number in range(4, 11)]
    assert names == {
        "island": ["island 0", "island 1", *alone],
        "machine": ["m0", "m1", "m2", "m3"],
        "rack": ["r0", "r1", "r2"],
        "zone": ["zone", "r2"],
        "network": ["spine"],
    }
    assert _DEEP.group_of("rack") == _DEEP.rack_of == (0, 0, 1, 2)
    assert _DEEP.group_of("zone") == (0, 0, 0, 1)
    assert _DEEP.group_of_gpu("zone") == (0,) * 10 + (1,)
    assert _DEEP.group_of_gpu("island") == (0, 0, 1, 1, *range(2, 9))
    islands, racks = ([(group.machines, group.gpus) for group in _DEEP.groups[on]] for on in ("island", "rack"))
    assert islands == [
        (range(1), range(2)),
        (range(1), range(2, 4)),
        *((range(1, 2), range(gpu, gpu + 1)) for gpu in range(4, 8)),
        *((range(2, 3), range(gpu, gpu + 1)) for gpu in range(8, 10)),
        (range(3, 4), range(10, 11)),
    ]
    assert racks == [(range(2), range(8)), (range(2, 3), range(8, 10)), (range(3, 4), range(10, 11))]


@settings(max_examples=cases(30, least=10), deadline=None)
@given(trees())
def test_tiers_are_lowest_common_ancestors(cluster: Cluster) -> None:
    """The tier of two or three GPUs is the level of their lowest common ancestor, by networkx."""
    tree = cluster.graph()
    root = tree.graph["root"]
    for size in (2, 3):
        for gpus in list(combinations(range(cluster.gpus), size))[:20]:
            assert cluster.tier(gpus[::-1]) == _joint(tree, root, list(gpus))


@settings(max_examples=cases(30, least=10), deadline=None)
@given(trees())
def test_the_best_tier_is_that_of_the_best_choice(cluster: Cluster) -> None:
    """No choice of GPUs has a better tier than the best one, and some choice has it."""
    rank = {level: index for index, level in enumerate(cluster.levels)}
    for count in range(1, min(cluster.gpus, 7) + 1):
        tiers = [cluster.tier(gpus) for gpus in combinations(range(min(cluster.gpus, 9)), count)]
        best = rank[cluster.best_tier(count)]
        assert best <= min(rank[tier] for tier in tiers)
        widest = (group.gpus for group in cluster.groups[cluster.levels[best]] if len(group.gpus) >= count)
        assert rank[cluster.tier(next(widest)[:count])] == best


@settings(max_examples=cases(30, least=10), deadline=None)
@given(trees())
def test_groups_split_the_cluster(cluster: Cluster) -> None:
    """The groups of a level hold every machine and GPU once, in their order, and lie in groups of the next."""
    for level in cluster.levels:
        groups = cluster.groups[level]
        assert [gpu for group in groups for gpu in group.gpus] == list(range(cluster.gpus))
        numbers = cluster.group_of_gpu(level)
        assert all(numbers[gpu] == number for number, group in enumerate(groups) for gpu in group.gpus)
        if level != "island":
            assert [each for group in groups for each in group.machines] == list(range(len(cluster.machines)))
    for inner, outer in zip(cluster.levels, cluster.levels[1:], strict=False):
        of_outer = cluster.group_of_gpu(outer)
        assert all(len({of_outer[gpu] for gpu in group.gpus}) == 1 for group in cluster.groups[inner])


def _nested(*levels: str) -> Switch:
    """Make switches of levels, each below the one before, whose names are those of the levels down from it."""
    name = "/".join(levels)
    if len(levels) == 1:
        return _below(*levels, name=name, machines=[_machine(f"below {name}")])
    return _below(levels[0], _nested(*levels[1:]), name=name)


@given(st.permutations(["a", "b", "c", "d"]))
@settings(max_examples=10, deadline=None)
def test_levels_have_one_order(order: list[str]) -> None:
    """Levels that no path has together have some order, and all others that of the paths."""
    one, two, three, four = order
    cluster = Cluster(network=_below("top", _nested(one, two), _nested(three, two, four)))
    place = cluster.levels.index
    assert (
        place("top") > max(place(one), place(three)) >= min(place(one), place(three)) > place(two) > place(four)
    )
    assert cluster.levels[0] == "machine"


def test_levels_apart_stand_as_usual() -> None:
    """Of levels that no path has together the usually narrower one comes first."""
    rack = Rack(name="r", machines=[_machine("m")])
    block = _below("nvlink", machines=[_machine("o", 2), _machine("p", 2)])
    own = _below("chassis", machines=[_machine("q", 2)])
    for switches in ([rack, own, block], [block, rack, own]):
        cluster = Cluster(network=_below("network", *switches))
        assert cluster.levels == ("machine", "nvlink", "rack", "chassis", "network")
        assert TIER_PENALTIES["bert-large"].of("nvlink", cluster.levels) == 0.23


@pytest.mark.parametrize(
    ("network", "reason"),
    [
        (_nested("network", "rack", "rack"), "must not be below .* of the same level"),
        (
            _below("top", _nested("a", "b", "c"), _nested("b", "a")),
            "must not be below '[ab]' here and above",
        ),
        (_nested(*(f"l{number}" for number in range(40))), "must be at most 32"),
    ],
)
def test_levels_out_of_order(network: Switch, reason: str) -> None:
    """A level below itself, two levels in both orders and levels without end are refused, naming a switch."""
    with pytest.raises(ValidationError, match=reason):
        Cluster(network=network)


def test_questions_that_have_no_answer() -> None:
    """Unknown levels, GPUs that are not there and too many of them get one line each."""
    asked: list[tuple[Callable[[], object], str]] = [
        (lambda: _DEEP.group_of("row"), "level: 'row': must be a level of the cluster"),
        (lambda: _DEEP.group_of("island"), "is inside machines"),
        (lambda: _DEEP.tier([0, 11]), "gpus: 11: must be numbers from 0 to 10"),
        (lambda: _DEEP.tier([-1, 3]), "gpus: -1"),
        (lambda: _DEEP.tier_between(0, 11), "gpus: 11: must be numbers from 0 to 10"),
        (lambda: Cluster.plain(4).tier_between(-1, 3), "gpus: -1"),
        (lambda: _DEEP.path(0, 11), "gpus: 11"),
        (lambda: _DEEP.path(-1, 0), "gpus: -1"),
        (lambda: _DEEP.bottleneck([-3, 0]), "gpus: -3"),
        (lambda: Cluster.plain(4).bottleneck([4]), "gpus: 4"),
        (lambda: _DEEP.best_tier(12), "gpus: 12: must be from 1 to 11"),
        (lambda: _DEEP.best_tier(0), "gpus: 0"),
        (lambda: Cluster.plain(4).root, "has no switches"),
    ]
    for ask, reason in asked:
        with pytest.raises(InvalidInput, match=reason):
            ask()


def test_routes_by_hand() -> None:
    """One GPU has no bottleneck, latencies add up, and plain GPUs are joined as in one machine."""
    fast, slow = Link(bandwidth=8.0, latency=1.0), Link(bandwidth=2.0, latency=4.0, capacity=1.0)
    machines = [Machine(name=name, gpus=2, gpu_link=fast, uplink=slow) for name in "ab"]
    cluster = Cluster(network=Switch(name="top", level="network", machines=machines))
    assert cluster.bottleneck([0]) is None
    assert cluster.bottleneck([0, 1]) == Link(bandwidth=8.0, latency=2.0)
    assert cluster.bottleneck([1]) is None
    assert cluster.bottleneck([0, 3]) == cluster.bottleneck(range(4)) == Link(bandwidth=1.0, latency=10.0)
    slowest = Link(bandwidth=1e-9, latency=1e9)
    machine = Machine(name="m", gpus=2, gpu_link=slowest, uplink=slowest)
    cluster = Cluster(network=Switch(name="top", level="network", machines=[machine]))
    assert cluster.bottleneck([0, 1]) == Link.model_construct(bandwidth=1e-9, latency=2e9, capacity=None)
    plain = Cluster.plain(4)
    assert (plain.levels, plain.tier([0, 3]), plain.best_tier(4)) == (("machine",), "machine", "machine")
    assert (plain.groups, plain.group_of("machine"), plain.machine_of, plain.rack_of) == ({}, (), (), ())
    assert (plain.path(0, 3), plain.bottleneck([0, 3]), plain.switches) == ((0, 3), None, ())


# Paths and bottlenecks are those of the tree


@settings(max_examples=cases(30, least=10), deadline=None)
@given(trees(linked=True))
def test_paths_and_bottlenecks(cluster: Cluster) -> None:
    """Path, lowest rate and longest latency are those that networkx finds on the whole tree."""
    tree = cluster.graph()
    for gpus in [*combinations(range(cluster.gpus), 2)][:12] + [*combinations(range(cluster.gpus), 3)][-12:]:
        paths = [nx.shortest_path(tree, one, other) for one, other in combinations(gpus, 2)]
        assert cluster.path(gpus[0], gpus[1]) == tuple(paths[0])
        links = [[tree.edges[step] for step in pairwise(path)] for path in paths]
        found = unwrap(cluster.bottleneck(gpus))
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
