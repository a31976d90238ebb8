"""From graph: the construction of a cluster from a networkx tree, with one-line error messages."""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from numbers import Integral, Real
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.files import first_error
from gsopt.scenario.cluster.graph import DATACENTER
from gsopt.scenario.cluster.levels import USUAL_LEVELS
from gsopt.scenario.cluster.link import Link
from gsopt.scenario.cluster.machine import Island, Machine
from gsopt.scenario.cluster.rooted import Rooted, root_tree, show
from gsopt.scenario.cluster.switch import GPU, ISLAND, MACHINE, Rack, Switch
from gsopt.scenario.cluster.tier import Tier


class Levelled(Protocol):
    """The interface of objects that are built from a tree and know their levels."""

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of the levels, innermost first."""
        ...


T = TypeVar("T")
C = TypeVar("C", bound=Levelled)

#: Largest number of digits in a GPU number.
_MOST_DIGITS = 9

#: Kinds of nodes that may be above GPUs and above islands; only switches may be above machines and switches.
_PARENTS = {GPU: (ISLAND, MACHINE), ISLAND: (MACHINE,)}


def read_tree(
    make: Callable[..., C], graph: Any, *, levels: Sequence[str] | None = None, root: Hashable = None
) -> C:
    """Build a cluster from a tree (see `Cluster.from_graph`)."""
    rooted = root_tree(graph, root)
    tree = _Tree(rooted, _given_levels(rooted.graph.graph.get("levels") if levels is None else levels))
    return tree.check_order(tree.read(make))


def _given_levels(given: Any) -> Sequence[str] | None:
    """Return the levels named by the caller or by the graph's attribute, which may be a JSON list."""
    levels = given
    if isinstance(given, str):
        with suppress(ValueError):
            levels = json.loads(given)
    if levels is None:
        return None
    if (
        isinstance(levels, str)
        or not isinstance(levels, Sequence)
        or not all(isinstance(each, str) for each in levels)
    ):
        raise InvalidInput("levels", shorten(given), "must be the names of the levels, innermost first")
    return levels


class _Tree:
    """A tree whose nodes become islands, machines and switches, from the bottom up.

    The levels are given innermost first; None stands for the levels in common use.
    """

    def __init__(self, tree: Rooted, levels: Sequence[str] | None) -> None:
        self._tree, self._levels = tree, levels
        self._allowed = {GPU, ISLAND, MACHINE, DATACENTER} | set(USUAL_LEVELS if levels is None else levels)
        self._kinds = {node: self._kind(node) for node in tree.nodes}
        self._names = self._name_all()
        self._links = {node: self._link(node) for node in tree.nodes if node != tree.root}

    def read(self, make: Callable[..., C]) -> C:
        """Build the cluster from the tree."""
        root, kinds = self._tree.root, self._kinds
        below = self._below(root)
        if kinds[root] == DATACENTER and all(kinds[child] == GPU for child in below):
            return self._read_plain(make)
        if kinds[root] in {GPU, ISLAND, MACHINE}:
            raise self._wrong(root, "kind", kinds[root], "must be a level of switches: the root joins machines")
        for node in self._tree.nodes:
            self._check_place(node)
        self._check_links()
        self._check_numbers()
        made: dict[Hashable, Any] = {}
        for node in reversed(self._tree.nodes):
            children = [made.pop(child) for child in self._below(node) if self._kinds[child] != GPU]
            made[node] = self._made(node, children)
        top = made[root]
        if kinds[root] == DATACENTER and all(self._is_default(child) for child in below):
            return self._checked("", lambda: make(racks=tuple(_rack(each) for each in top.switches)))
        return self._checked("", lambda: make(network=top))

    def check_order(self, cluster: C) -> C:
        """Return the cluster, or raise `InvalidInput` if its levels are not in the given order."""
        named = [level for level in self._levels or () if level in cluster.levels]
        stand = [level for level in cluster.levels if level in named]
        if named != stand:
            rule = f"must be in the given order, innermost first: {', '.join(named)}"
            raise InvalidInput("levels", ", ".join(stand), rule)
        return cluster

    # Kinds, names and places

    def _kind(self, node: Hashable) -> str:
        kind = self._tree.data(node).get("kind")
        if kind is None:
            raise InvalidInput(f"node {show(node)}: kind", "", "is required: 'gpu', 'machine' or its level")
        if not isinstance(kind, str) or kind not in self._allowed:
            rule = f"must be one of {', '.join(sorted(self._allowed))}; name other levels, innermost first"
            raise self._wrong(node, "kind", kind, rule)
        return str(kind)

    def _name_all(self) -> Mapping[Hashable, str]:
        """Return the names of all nodes except GPUs. A node without a name is named by its identifier."""
        names: dict[Hashable, str] = {}
        taken: dict[str, Hashable] = {}
        for node in self._tree.nodes:
            if self._kinds[node] != GPU:
                name = self._tree.data(node).get("name", node)
                names[node] = name if isinstance(name, str) else str(name)
                other = taken.setdefault(names[node], node)
                if other is not node:
                    raise self._wrong(node, "name", names[node], f"must differ from that of node {show(other)}")
        return names

    def _check_place(self, node: Hashable) -> None:
        """Reject a node below a parent of the wrong kind."""
        kind, parent = self._kinds[node], self._tree.parent.get(node)
        if parent is None:
            return
        above = self._kinds[parent]
        if above == GPU:
            raise self._wrong(node, "kind", kind, f"must not be below node {show(parent)}, which is a GPU")
        if kind in _PARENTS:
            if kind == GPU and any(self._kinds[each] == ISLAND for each in self._tree.children[parent]):
                raise self._wrong(node, "kind", kind, f"must be on an island, as others of {show(parent)} do")
            if above not in _PARENTS[kind]:
                rule = f"must be below kind {' or '.join(_PARENTS[kind])}, and not below node {show(parent)}"
                raise self._wrong(node, "kind", kind, rule)
        elif above in {ISLAND, MACHINE}:
            rule = f"must be below a switch, and not below node {show(parent)}, of kind {above!r}"
            raise self._wrong(node, "kind", kind, rule)

    # Links

    def _link(self, node: Hashable) -> Link | None:
        """Return the link from a node to its parent, or None if it has no properties."""
        data = self._tree.edge(node)
        given = {name: _number(data[name]) for name in Link.model_fields if data.get(name) is not None}
        if not given:
            return None
        return self._checked(self._edge(node), lambda: Link(**given))

    def _edge(self, node: Hashable) -> str:
        return f"edge {show(self._tree.parent[node])} - {show(node)}"

    def _check_links(self) -> None:
        """Reject links without a bandwidth if other links of their kind have one."""
        known: dict[str, bool] = {}
        for node in sorted(self._links, key=lambda node: self._links[node] is None):
            group = self._kinds[node] if self._kinds[node] in _PARENTS else ""
            if known.setdefault(group, self._links[node] is not None) and self._links[node] is None:
                raise InvalidInput(f"{self._edge(node)}: bandwidth", "", "is required, as other links have one")

    def _gpu_link(self, node: Hashable, gpus: Sequence[Hashable]) -> Link | None:
        """Return the properties of the links of a machine's GPUs, which must all be equal."""
        if not gpus:
            data = self._tree.data(node)
            given = {name: _number(data[f"gpu_{name}"]) for name in Link.model_fields if f"gpu_{name}" in data}
            return self._checked(f"node {show(node)}: gpu_link", lambda: Link(**given)) if given else None
        link = self._links[gpus[0]]
        for gpu in gpus:
            if self._links[gpu] != link:
                rule = f"must equal that of GPU {show(gpus[0])}: the GPUs of one machine have equal links"
                raise InvalidInput(self._edge(gpu), shorten(self._links[gpu]), rule)
        return link

    # Numbers of GPUs

    @cached_property
    def _number_of(self) -> Mapping[Hashable, int]:
        """Numbers of the GPU nodes if the nodes are the numbers from 0 on; otherwise empty."""
        gpus = [node for node in self._tree.nodes if self._kinds[node] == GPU]
        numbers = {gpu: _gpu_number(gpu) for gpu in gpus}
        return numbers if sorted(numbers.values()) == list(range(len(gpus))) else {}

    @cached_property
    def _lowest(self) -> Mapping[Hashable, int]:
        """The lowest GPU number below each node; empty if GPUs have no numbers."""
        lowest = dict(self._number_of)
        for node in reversed(self._tree.nodes):
            parent = self._tree.parent.get(node)
            if node in lowest and parent is not None:
                lowest[parent] = min(lowest.get(parent, lowest[node]), lowest[node])
        return lowest

    def _below(self, node: Hashable) -> Sequence[Hashable]:
        """Return a node's children in the order of their GPU numbers or, if there are none, of the graph."""
        children = self._tree.children[node]
        lowest = self._lowest
        return sorted(children, key=lambda child: lowest.get(child, 0)) if lowest else children

    def _check_numbers(self) -> None:
        """Reject GPU numbers that do not follow the order of the tree, in which machines precede switches."""
        number, pending = 0, [self._tree.root]
        while pending and self._number_of:
            node = pending.pop()
            if self._kinds[node] == GPU:
                if self._number_of[node] != number:
                    rule = f"must be {number}: numbers follow the tree, machines before switches"
                    raise self._wrong(node, "number", self._number_of[node], rule)
                number += 1
            below = sorted(self._below(node), key=lambda child: self._kinds[child] not in {MACHINE, *_PARENTS})
            pending += reversed(below)

    # Islands, machines and switches

    def _made(self, node: Hashable, children: Sequence[Any]) -> Any:
        kind = self._kinds[node]
        if kind == GPU:
            return None
        gpus = [child for child in self._tree.children[node] if self._kinds[child] == GPU]
        if kind == ISLAND:
            return self._island(node, gpus)
        if kind == MACHINE:
            return self._machine(node, gpus, children)
        machines = tuple(child for child in children if isinstance(child, Machine))
        switches = tuple(child for child in children if isinstance(child, Switch))
        name, uplink = self._names[node], self._links.get(node)
        return self._checked(
            f"node {show(node)}",
            lambda: Switch(name=name, level=kind, machines=machines, switches=switches, uplink=uplink),
        )

    def _island(self, node: Hashable, gpus: Sequence[Hashable]) -> Island:
        given = {"name": self._names[node], "gpus": self._count(node, len(gpus)), "uplink": self._links[node]}
        return self._checked(f"node {show(node)}", lambda: Island(**given))

    def _machine(self, node: Hashable, gpus: Sequence[Hashable], islands: Sequence[Island]) -> Machine:
        within = [
            gpu for island in self._below(node) if self._kinds[island] == ISLAND for gpu in self._below(island)
        ]
        data = self._tree.data(node)
        given = {
            "name": self._names[node],
            "gpus": self._count(node, len(gpus) + sum(island.gpus for island in islands)),
            "gpu_link": self._gpu_link(node, gpus or within),
            "uplink": self._links[node],
            **{name: _number(data[name]) for name in ("gpu_type", "memory") if data.get(name) is not None},
        }
        return self._checked(f"node {show(node)}", lambda: Machine(**given, islands=tuple(islands)))

    def _count(self, node: Hashable, below: int) -> Any:
        """Return the number of GPUs of a node, counted below it or stated by it."""
        given = _number(self._tree.data(node).get("gpus", below))
        if below and given != below:
            raise self._wrong(node, "gpus", given, f"must be {below}, as many as are below it")
        if not given:
            raise self._wrong(node, "gpus", given, "must be at least 1: there is no GPU below it")
        return given

    def _read_plain(self, make: Callable[..., C]) -> C:
        root = self._tree.root
        for node, link in self._links.items():
            if link is not None:
                rule = "must not be given: GPUs below no machine are a plain cluster, which has no links"
                raise InvalidInput(f"{self._edge(node)}: bandwidth", shorten(link.bandwidth), rule)
            for child in self._tree.children[node]:
                self._check_place(child)
        gpus = self._count(root, len(self._tree.children[root]))
        return self._checked(f"node {show(root)}", lambda: make(plain_gpus=gpus))

    def _is_default(self, child: Hashable) -> bool:
        """Check whether a switch below the root is a rack in a cluster without a network."""
        return self._kinds[child] == Tier.RACK and self._tree.edge(child).get("tier") != DATACENTER

    # Errors

    def _checked(self, where: str, make: Callable[[], T]) -> T:
        """Return the result of `make`. If it is invalid, raise a one-line error that says where and why."""
        try:
            return make()
        except ValidationError as error:
            line = first_error("", error)
            field = ": ".join(part for part in (where, line.field) if part)
            raise InvalidInput(field, line.value, line.rule) from None

    @staticmethod
    def _wrong(node: Hashable, field: str, value: object, rule: str) -> InvalidInput:
        return InvalidInput(f"node {show(node)}: {field}", shorten(value), rule)


def _rack(switch: Switch) -> Rack:
    return Rack.model_construct(
        name=switch.name, machines=switch.machines, switches=switch.switches, uplink=switch.uplink
    )


def _number(value: Any) -> Any:
    """Convert a number of any library to a Python number, and return anything else unchanged."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def _gpu_number(node: Hashable) -> int:
    """Return the number that a node represents, possibly as a string, or -1 if it represents none."""
    if isinstance(node, str):
        return int(node) if node.isascii() and node.isdigit() and len(node) <= _MOST_DIGITS else -1
    return int(node) if isinstance(node, Integral) and not isinstance(node, bool) else -1
