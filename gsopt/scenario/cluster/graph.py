"""Graph: the representation of a cluster as a networkx tree."""

import json
from collections.abc import Sequence
from typing import Any

from gsopt.scenario.cluster.link import Link
from gsopt.scenario.cluster.machine import Machine
from gsopt.scenario.cluster.switch import GPU, ISLAND, MACHINE, Switch
from gsopt.scenario.cluster.tier import Tier

#: Name and kind of the root of a cluster without a network.
DATACENTER = "datacenter"


def draw_plain(count: int, *, gpus: bool = True) -> Any:
    """Return the networkx tree of a plain cluster with the given number of GPUs."""
    import networkx as nx

    tree = nx.Graph(root=DATACENTER)
    tree.add_node(DATACENTER, kind=DATACENTER)
    if not gpus:
        tree.nodes[DATACENTER]["gpus"] = count
        return tree
    for gpu in range(count):
        _add(tree, gpu, GPU, above=DATACENTER, tier=Tier.MACHINE, link=None)
    return tree


def draw_tree(root: Switch, levels: Sequence[str], *, kind: str, gpus: bool = True) -> Any:
    """Return the networkx tree of a root switch and everything below it, in the order of the cluster."""
    import networkx as nx

    tree = nx.Graph(root=root.name)
    if {*levels} - {*Tier, ISLAND}:
        tree.graph["levels"] = json.dumps(levels)  # in one text, as GraphML has no lists
    tree.add_node(root.name, kind=kind)
    number = 0
    for switch in root.walk():
        for child in switch.switches:
            _add(tree, child.name, child.level, above=switch.name, tier=switch.level, link=child.uplink)
        for machine in switch.machines:
            _add(tree, machine.name, MACHINE, above=switch.name, tier=switch.level, link=machine.uplink)
            _add_inside(tree, machine, number if gpus else None)
            number += machine.gpus
    return tree


def _add(tree: Any, node: str | int, kind: str, *, above: str, tier: str, link: Link | None) -> None:
    """Add a node and the edge to the node above it."""
    tree.add_node(node, kind=kind)
    tree.add_edge(above, node, tier=str(tier), **_data(link))


def _data(link: Link | None) -> dict[str, float]:
    """Return the known properties of a link, keyed by name."""
    return {} if link is None else {name: value for name, value in link if value is not None}


def _add_inside(tree: Any, machine: Machine, first: int | None) -> None:
    """Add a machine's data, islands and GPUs, numbered from `first`; if it is None, only count the GPUs."""
    node = tree.nodes[machine.name]
    if machine.gpu_type:
        node["gpu_type"] = machine.gpu_type
    if machine.memory is not None:
        node["memory"] = machine.memory
    if first is None:
        node |= {f"gpu_{name}": value for name, value in _data(machine.gpu_link).items()}
    for island in machine.islands:
        _add(tree, island.name, ISLAND, above=machine.name, tier=MACHINE, link=island.uplink)
    homes = [(each.name, ISLAND, each.gpus) for each in machine.islands]
    for home, tier, count in homes or [(machine.name, MACHINE, machine.gpus)]:
        if first is None:
            tree.nodes[home]["gpus"] = count
            continue
        for gpu in range(first, first + count):
            _add(tree, gpu, GPU, above=home, tier=tier, link=machine.gpu_link)
        first += count
