"""Levels are numbered once, and say of any GPUs what the tree says."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Island, Machine, Rack, Switch
from gsopt.scenario.speed import TIER_PENALTIES
from tests.strategies.topology import trees

_ISLANDS = [Island(name=f"island {number}", gpus=2) for number in range(2)]

_DEEP = Cluster(
    network=Switch(
        name="spine",
        level="network",
        switches=[
            Switch(
                name="zone",
                level="zone",
                switches=[
                    Rack(
                        name="r0",
                        machines=[Machine(name="m0", gpus=4, islands=_ISLANDS), Machine(name="m1", gpus=4)],
                    ),
                    Rack(name="r1", machines=[Machine(name="m2", gpus=2)]),
                ],
            ),
            Rack(name="r2", machines=[Machine(name="m3", gpus=1)]),
        ],
        machines=[],
    )
)


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
    assert [(group.machines, group.gpus) for group in _DEEP.groups["island"]] == [
        (range(1), range(2)),
        (range(1), range(2, 4)),
        *((range(1, 2), range(gpu, gpu + 1)) for gpu in range(4, 8)),
        *((range(2, 3), range(gpu, gpu + 1)) for gpu in range(8, 10)),
        (range(3, 4), range(10, 11)),
    ]
    assert [(group.machines, group.gpus) for group in _DEEP.groups["rack"]] == [
        (range(2), range(8)),
        (range(2, 3), range(8, 10)),
        (range(3, 4), range(10, 11)),
    ]


@settings(max_examples=30, deadline=None)
@given(trees())
def test_tiers_are_lowest_common_ancestors(cluster: Cluster) -> None:
    """The tier of two or three GPUs is the level of their lowest common ancestor, by networkx."""
    tree = cluster.graph()
    root = tree.graph["root"]
    for size in (2, 3):
        for gpus in list(combinations(range(cluster.gpus), size))[:20]:
            assert cluster.tier(gpus[::-1]) == _joint(tree, root, list(gpus))


@settings(max_examples=30, deadline=None)
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


@settings(max_examples=30, deadline=None)
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


@given(st.permutations(["a", "b", "c", "d"]))
@settings(max_examples=10, deadline=None)
def test_levels_have_one_order(order: list[str]) -> None:
    """Levels that no path has together have some order, and all others that of the paths."""
    machines = iter([Machine(name=f"m{number}", gpus=1) for number in range(9)])

    def chain(*levels: str) -> Switch:
        switch: Switch | None = None
        for level in reversed(levels):
            below = {"switches": [switch]} if switch else {"machines": [next(machines)]}
            switch = Switch(name=f"{levels}{level}", level=level, **below)
        assert switch
        return switch

    one, two, three, four = order
    cluster = Cluster(
        network=Switch(name="top", level="top", switches=[chain(one, two), chain(three, two, four)])
    )
    place = cluster.levels.index
    assert (
        place("top") > max(place(one), place(three)) >= min(place(one), place(three)) > place(two) > place(four)
    )
    assert cluster.levels[0] == "machine"


def test_levels_apart_stand_as_usual() -> None:
    """Of levels that no path has together the usually narrower one comes first."""
    rack = Rack(name="r", machines=[Machine(name="m", gpus=1)])
    block = Switch(name="n", level="nvlink", machines=[Machine(name="o", gpus=2), Machine(name="p", gpus=2)])
    own = Switch(name="c", level="chassis", machines=[Machine(name="q", gpus=2)])
    for switches in ([rack, own, block], [block, rack, own]):
        cluster = Cluster(network=Switch(name="top", level="network", switches=switches))
        assert cluster.levels == ("machine", "nvlink", "rack", "chassis", "network")
        assert TIER_PENALTIES["bert-large"].of("nvlink", cluster.levels) == 0.23


def _nested(*levels: str) -> Switch:
    """Make switches of levels, each below the one before."""
    if len(levels) == 1:
        return Switch(
            name="/".join(levels), level=levels[0], machines=[Machine(name="below " + "/".join(levels), gpus=1)]
        )
    return Switch(name="/".join(levels), level=levels[0], switches=[_nested(*levels[1:])])


@pytest.mark.parametrize(
    ("network", "reason"),
    [
        (_nested("network", "rack", "rack"), "must not stand below .* of the same level"),
        (
            Switch(name="top", level="top", switches=[_nested("a", "b", "c"), _nested("b", "a")]),
            "must not stand below '[ab]' here and above it elsewhere",
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


def test_a_plain_cluster_is_one_machine() -> None:
    """To the network a plain cluster is one machine, whose GPUs are all joined."""
    plain = Cluster.plain(4)
    assert (plain.levels, plain.tier([0, 3]), plain.best_tier(4)) == (("machine",), "machine", "machine")
    assert (plain.groups, plain.group_of("machine"), plain.machine_of, plain.rack_of) == ({}, (), (), ())
    assert (plain.path(0, 3), plain.bottleneck([0, 3]), plain.switches) == ((0, 3), None, ())
