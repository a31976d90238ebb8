"""Cluster: the GPUs on which a workload runs, and the levels of the network that connects them."""

import re
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain, count
from typing import Annotated, Any

from pydantic import Field, model_validator

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.problem import Many, RuleBroken
from gsopt.scenario.cluster.from_graph import read_tree
from gsopt.scenario.cluster.graph import DATACENTER, draw_plain, draw_tree
from gsopt.scenario.cluster.lean import Lean
from gsopt.scenario.cluster.levels import Group, Levels, order_levels
from gsopt.scenario.cluster.link import Link
from gsopt.scenario.cluster.machine import Machine
from gsopt.scenario.cluster.routes import Routes
from gsopt.scenario.cluster.switch import ISLAND, MACHINE, Rack, Switch
from gsopt.scenario.cluster.tier import Tier, tier_named

#: Largest number of GPUs in a cluster of racks: more than any cluster has today, but few enough for memory.
_MOST_GPUS = 1_000_000

#: The shape of a cluster of equal racks, such as ``4x8x8``.
_SHAPE = re.compile(r"([1-9][0-9]{0,6})x([1-9][0-9]{0,6})x([1-9][0-9]{0,6})")


class Cluster(Lean):
    """The GPUs on which a workload runs.

    A plain cluster is just a count of identical GPUs. Any other cluster is a tree of switches (such as racks),
    machines and GPUs. Its GPUs are numbered from 0, switch by switch and machine by machine, and jobs hold GPUs
    with particular numbers.

    The levels of a cluster of racks are machine, rack and network, and those of any switches inside racks. With
    a `network`, the levels of its switches replace rack and network. If any machine has islands, the innermost
    level is island. Unless stated otherwise, methods raise `InvalidInput` for GPUs and levels that do not
    exist.

    Attributes
    ----------
    plain_gpus
        Number of GPUs of a plain cluster; 0 for any other cluster.
    racks
        The racks, which are connected by one network; empty for any other cluster.
    network
        The root switch of a cluster with custom levels; None for any other cluster.

    Examples
    --------
    >>> Cluster.plain(64).gpus
    64
    >>> cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    >>> cluster.gpus, cluster.tier([0, 1]), cluster.tier([3, 4]), cluster.tier([0, 8])
    (16, <Tier.MACHINE: 'machine'>, <Tier.RACK: 'rack'>, <Tier.NETWORK: 'network'>)
    >>> pods = [Switch(name=f"pod {n}", level="pod", machines=[Machine(name=f"m{n}", gpus=8)]) for n in (1, 2)]
    >>> deep = Cluster(network=Switch(name="spine", level="network", switches=pods))
    >>> deep.levels, deep.tier([0, 8]), deep.best_tier(9)
    (('machine', 'pod', 'network'), <Tier.NETWORK: 'network'>, <Tier.NETWORK: 'network'>)
    """

    later = frozenset({"network"})

    plain_gpus: Annotated[int, Field(ge=0, le=10_000_000)] = 0
    racks: Many[Rack] = ()
    network: Switch | None = None

    @model_validator(mode="after")
    def _plain_or_racks(self) -> "Cluster":
        if self.racks and self.network:
            raise RuleBroken("network", self.network.name, "must not be given together with racks")
        if (self.plain_gpus > 0) == bool(self.racks or self.network):
            rule = "must be a positive number without racks and network, or 0 with them"
            raise RuleBroken("plain_gpus", self.plain_gpus, rule)
        return self

    @model_validator(mode="after")
    def _not_too_large(self) -> "Cluster":
        """Limit the number of numbered GPUs, because the code loops over them."""
        if not self.is_plain and self.gpus > _MOST_GPUS:
            rule = f"must have at most {_MOST_GPUS:,} GPUs in all"
            raise RuleBroken("racks" if self.racks else "network", self.gpus, rule)
        return self

    @model_validator(mode="after")
    def _names_differ(self) -> "Cluster":
        field = "racks" if self.racks else "network"
        seen: set[str] = set()
        for name in self._names():
            if name in seen:
                raise RuleBroken(field, name, "must name one rack or machine, switch or island only")
            seen.add(name)
        return self

    @model_validator(mode="after")
    def _levels_in_order(self) -> "Cluster":
        if not self.is_plain:
            order_levels(self.root)
        return self

    @model_validator(mode="after")
    def _links_all_or_none(self) -> "Cluster":
        """Require that the links of each kind are all known or all unknown, and that the root has no uplink."""
        if self.network and self.network.uplink:
            raise RuleBroken(
                "network.uplink", self.network.name, "must not be given: nothing is above the root"
            )
        for kind, links in self._links().items():
            known = sum(link is not None for link in links.values())
            if 0 < known < len(links):
                first = next(name for name, link in links.items() if link is None)
                raise RuleBroken(kind, first, "must have a bandwidth, as others of its kind do")
        return self

    @classmethod
    def plain(cls, gpus: int) -> "Cluster":
        """Return a plain cluster of identical GPUs.

        Examples
        --------
        >>> Cluster.plain(64).gpus
        64
        """
        return cls(plain_gpus=gpus)

    @classmethod
    def uniform(cls, *, racks: int = 1, machines: int, gpus: int, memory: int | None = None) -> "Cluster":
        """Return a cluster of equal racks with equal machines.

        `machines` is the number of machines per rack, and `gpus` the number of GPUs per machine. `memory` is
        the memory of each GPU in bytes, or None if memory is not modelled.

        Examples
        --------
        >>> Cluster.uniform(racks=2, machines=4, gpus=8).gpus
        64
        """
        return cls(
            racks=tuple(
                Rack(
                    name=f"rack {rack}",
                    machines=tuple(
                        Machine(name=f"machine {rack}.{index}", gpus=gpus, memory=memory)
                        for index in range(machines)
                    ),
                )
                for rack in range(racks)
            )
        )

    @classmethod
    def from_shape(cls, shape: str) -> "Cluster":
        """Create a cluster of equal racks from its shape: racks x machines per rack x GPUs per machine.

        Raises
        ------
        InvalidInput
            The shape is not three positive numbers, or there are too many GPUs.

        Examples
        --------
        >>> Cluster.from_shape("4x8x8") == Cluster.uniform(racks=4, machines=8, gpus=8)
        True
        """
        equal = _SHAPE.fullmatch(shape)
        if equal is None:
            rule = "must be racks, machines of each and GPUs of each, all at least 1, such as 4x8x8"
            raise InvalidInput("cluster", shorten(shape), rule)
        racks, machines, gpus = map(int, equal.groups())
        if racks * machines * gpus > _MOST_GPUS:
            raise InvalidInput("cluster", shape, f"must have at most {_MOST_GPUS:,} GPUs in all")
        return cls.uniform(racks=racks, machines=machines, gpus=gpus)

    @classmethod
    def from_graph(cls, graph: Any, *, levels: Sequence[str] | None = None, root: Hashable = None) -> "Cluster":
        """Create a cluster from a networkx tree, such as one returned by `graph`.

        Each node has a `kind`: ``"gpu"``, ``"island"``, ``"machine"``, or the level of a switch. Nodes other
        than GPUs may have a `name` that differs from their identifier. Machines may have `gpu_type` and
        `memory` (bytes). Edges may have `bandwidth` (B/s), `latency` (s) and `capacity` (B/s). GPUs are nodes
        below their machine or island (in a plain cluster, below the root), or the machine, island or root
        states their number as `gpus`. If GPUs are not nodes, their machine may state the properties of their
        links as `gpu_bandwidth` and so on.

        GPUs are numbered along the tree, the machines of a switch before the switches below it, and otherwise
        in the order of the graph. If the GPU nodes are the integers from 0 up, possibly as text, GPUs keep
        these numbers, which must be consecutive below each node, with machines before switches.

        If the root is of kind ``"datacenter"``, the nodes directly below it determine the result: a plain
        cluster if there are only GPUs, or no nodes; a cluster of racks if there are only racks, and no edge to
        them has the `tier` ``"datacenter"``. Otherwise, the root becomes the `network`.

        Parameters
        ----------
        graph
            An undirected graph, or a directed one whose edges lead down from the root.
        levels
            Names of all levels of switches that may occur, innermost first. If None, the graph's attribute
            ``"levels"`` is used; without it, the levels in common use may occur in any order.
        root
            The root node. If None, the graph's attribute ``"root"`` names it. Without this attribute, it is the
            only node to which no edge leads or, in an undirected graph, the only one of kind ``"datacenter"``
            or ``"network"``.

        Raises
        ------
        InvalidInput
            The graph is not a tree, its root is not clear, its levels are not in the given order, or a node or
            edge breaks a rule.

        Examples
        --------
        >>> cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
        >>> Cluster.from_graph(cluster.graph()) == cluster
        True
        """
        return read_tree(cls, graph, levels=levels, root=root)

    @property
    def is_plain(self) -> bool:
        """Whether the cluster is just a count of identical GPUs."""
        return not self.racks and self.network is None

    @cached_property
    def gpus(self) -> int:
        """Number of GPUs in the cluster."""
        return self.plain_gpus or sum(machine.gpus for machine in self.machines)

    @cached_property
    def root(self) -> Switch:
        """The switch above everything else. Raise `InvalidInput` for a plain cluster, which has none."""
        if self.network:
            return self.network
        if not self.racks:
            raise InvalidInput("cluster", f"{self.plain_gpus} plain GPUs", "has no switches")
        taken = set(self._names())
        others = (f"{DATACENTER} {number}" for number in count(1))
        name = next(each for each in chain([DATACENTER], others) if each not in taken)
        return Switch.model_construct(
            name=name, level=str(Tier.NETWORK), switches=tuple(rack.plain() for rack in self.racks)
        )

    @cached_property
    def switches(self) -> tuple[Switch, ...]:
        """All switches, each before those below it; empty for a plain cluster."""
        return () if self.is_plain else tuple(self.root.walk())

    @cached_property
    def machines(self) -> tuple[Machine, ...]:
        """All machines, in the order of the tree; empty for a plain cluster."""
        tops: Sequence[Switch] = (self.network,) if self.network else self.racks
        return tuple(machine for top in tops for switch in top.walk() for machine in switch.machines)

    @cached_property
    def numbered(self) -> Levels:
        """The groups on every level, with fast look-ups of tiers. Raise `InvalidInput` for a plain cluster."""
        return Levels(self.root)

    @property
    def machine_of(self) -> tuple[int, ...]:
        """Indices of the GPUs' machines, one per GPU; empty for a plain cluster."""
        return () if self.is_plain else self.numbered.machine_of

    @cached_property
    def gpu_types(self) -> tuple[str, ...]:
        """Distinct GPU types of the machines, in the order of the tree; empty for a plain cluster.

        Machines without a type have the type ``""``, which is listed too.
        """
        return tuple(dict.fromkeys(machine.gpu_type for machine in self.machines))

    @cached_property
    def gpus_of(self) -> Mapping[str, range]:
        """Indices of each machine's GPUs, keyed by the machine's name; empty for a plain cluster."""
        ends = accumulate(machine.gpus for machine in self.machines)
        return {
            machine.name: range(end - machine.gpus, end)
            for machine, end in zip(self.machines, ends, strict=True)
        }

    @property
    def rack_of(self) -> tuple[int, ...]:
        """Indices of the machines' racks, one per machine; empty for a plain cluster.

        Raise `InvalidInput` for any other cluster without a level called rack.
        """
        return () if self.is_plain else self.group_of(Tier.RACK)

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of the levels, innermost first. A plain cluster has only the level machine."""
        return (MACHINE,) if self.is_plain else self.numbered.names

    @property
    def groups(self) -> Mapping[str, tuple[Group, ...]]:
        """The groups on every level, keyed by level; empty for a plain cluster.

        If a machine has no switch on a level, it belongs to the group of its widest switch below that level or,
        if there is none, forms a group of its own. If any machine has islands, each GPU of a machine without
        islands is an island of its own.
        """
        return {} if self.is_plain else self.numbered.groups

    def group_of(self, level: str) -> tuple[int, ...]:
        """Return the indices of the machines' groups on a level, one per machine; empty for a plain cluster.

        Raise `InvalidInput` if the cluster has no such level, or if the level is inside machines (islands). The
        only level of a plain cluster is ``machine``.

        Examples
        --------
        >>> Cluster.uniform(racks=2, machines=2, gpus=4).group_of("rack")
        (0, 0, 1, 1)
        """
        self._require(level)
        if level == ISLAND:
            raise InvalidInput("level", repr(ISLAND), "is inside machines: ask for the groups of GPUs")
        return () if self.is_plain else self.numbered.of_machine[level]

    def group_of_gpu(self, level: str) -> tuple[int, ...]:
        """Return the indices of the GPUs' groups on a level, one per GPU; empty for a plain cluster.

        Raise `InvalidInput` if the cluster has no such level. The only level of a plain cluster is ``machine``.

        Examples
        --------
        >>> rack = Rack(name="r", machines=[Machine(name="m", gpus=4, islands=[2, 2])])
        >>> Cluster(racks=[rack]).group_of_gpu("island")
        (0, 0, 1, 1)
        """
        self._require(level)
        if level == ISLAND:
            return self.numbered.island_of
        groups = self.group_of(level)
        return tuple(groups[machine] for machine in self.machine_of)

    def room(self, gpu_type: str = "", memory: int = 0) -> int:
        """Count the GPUs of type `gpu_type` (any type if empty) that have at least `memory` bytes each.

        GPUs of a plain cluster have no type. Memory that is not modelled is assumed to suffice.

        Examples
        --------
        >>> Cluster.uniform(machines=2, gpus=4, memory=80).room(memory=81), Cluster.plain(8).room(memory=81)
        (0, 8)
        """
        if self.is_plain:
            return 0 if gpu_type else self.plain_gpus
        return sum(
            machine.gpus
            for machine in self.machines
            if gpu_type in {"", machine.gpu_type} and (machine.memory is None or machine.memory >= memory)
        )

    def tier(self, gpus: Sequence[int]) -> str:
        """Return the tier of the given GPUs: the innermost level on which one group contains all of them.

        Tiers are strings, and `levels` gives their order. The tiers machine, rack and network are also members
        of `Tier`. A single GPU, or none, has the innermost tier.

        Examples
        --------
        >>> cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
        >>> cluster.tier([0, 5]), cluster.tier([0, 5]) == "rack"
        (<Tier.RACK: 'rack'>, True)
        """
        if not len(gpus):
            return tier_named(self.levels[0])
        return self.tier_between(min(gpus), max(gpus))

    def tier_between(self, first: int, last: int) -> str:
        """Return the tier of the GPUs from `first` to `last`, the innermost level that connects them all.

        The first and last GPU determine it, because every group is a range of GPUs.
        """
        self._ends((first, last))
        return Tier.MACHINE if self.is_plain else self.numbered.join(first, last)

    def best_tier(self, gpus: int) -> str:
        """Return the innermost tier that `gpus` GPUs can have when the whole cluster is free.

        The types and memory of GPUs are ignored. A job that can run only on some GPUs may need a wider tier,
        but never gets a narrower one.

        Examples
        --------
        >>> cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
        >>> [str(cluster.best_tier(count)) for count in (1, 4, 5, 8, 9)]
        ['machine', 'machine', 'rack', 'rack', 'network']
        """
        if not 1 <= gpus <= self.gpus:
            raise InvalidInput("gpus", shorten(gpus), f"must be from 1 to {self.gpus}, as the cluster has")
        return Tier.MACHINE if self.is_plain else self.numbered.best(gpus)

    def path(self, one: int, other: int) -> tuple[str | int, ...]:
        """Return the nodes on the path between two GPUs in `graph`, including these GPUs.

        In a plain cluster, the path consists of the GPUs alone.

        Examples
        --------
        >>> Cluster.uniform(racks=2, machines=2, gpus=4).path(0, 4)
        (0, 'machine 0.0', 'rack 0', 'machine 0.1', 4)
        """
        self._ends((one, other))
        if self.is_plain:
            return (one, other) if one != other else (one,)
        return self._routes.path(one, other)

    def bottleneck(self, gpus: Sequence[int]) -> Link | None:
        """Return the lowest rate and the highest latency between any two of the given GPUs, as a link.

        The rate is that of a single transfer. The result is None if a link is unknown, as in a plain cluster,
        or if fewer than two GPUs are given.

        Examples
        --------
        >>> fast, slow = Link(bandwidth=300e9, latency=1e-7), Link(bandwidth=50e9, latency=1e-6)
        >>> machines = [Machine(name=name, gpus=2, gpu_link=fast, uplink=slow) for name in "ab"]
        >>> cluster = Cluster(network=Switch(name="spine", level="network", machines=machines))
        >>> [(link.bandwidth, link.latency) for link in map(cluster.bottleneck, ([0, 1], [0, 2]))]
        [(300000000000.0, 2e-07), (50000000000.0, 2.2e-06)]
        """
        if not len(gpus):
            return None
        self._ends(gpus)
        return None if self.is_plain else self._routes.bottleneck(gpus)

    def graph(self, *, gpus: bool = True) -> Any:
        """Return the cluster as a networkx tree of switches, machines, islands and GPUs.

        Switches, machines and islands are nodes identified by their names, and GPUs by their numbers. The
        graph's attribute ``root`` names the root. If there are levels other than island, machine, rack and
        network, the attribute ``levels`` lists all levels as JSON text. The `kind` of a switch is its level,
        and that of other nodes is ``"machine"``, ``"island"`` or ``"gpu"``; machines also have `gpu_type` and
        `memory` (bytes), if known. Without a `network`, the `kind` of the root is ``"datacenter"``. The `tier`
        of an edge is the level of its upper end; the root counts as ``"network"`` in a cluster of racks, and as
        ``"machine"`` in a plain cluster. Known links add `bandwidth` (B/s), `latency` (s) and `capacity` (B/s).
        With ``gpus=False``, GPUs are not nodes. Instead, the nodes above them state the number of GPUs as
        `gpus`, and machines state the known properties of their GPUs' links as `gpu_bandwidth` and so on.

        Examples
        --------
        >>> tree = Cluster.uniform(racks=2, machines=2, gpus=4).graph()
        >>> tree.number_of_nodes(), tree.nodes[0]["kind"]
        (23, 'gpu')
        """
        if self.is_plain:
            return draw_plain(self.gpus, gpus=gpus)
        return draw_tree(
            self.root, self.levels, kind=self.root.level if self.network else DATACENTER, gpus=gpus
        )

    @cached_property
    def _routes(self) -> Routes:
        return Routes(self.machines, self.graph(gpus=False))

    def _ends(self, gpus: Sequence[int]) -> tuple[int, int]:
        """Return the lowest and the highest of the given GPU numbers, and reject numbers that do not exist."""
        first, last = min(gpus), max(gpus)
        if first < 0 or last >= self.gpus:
            rule = f"must be numbers from 0 to {self.gpus - 1}"
            raise InvalidInput("gpus", shorten(last if first >= 0 else first), rule)
        return first, last

    def _require(self, level: str) -> None:
        if level not in self.levels:
            rule = f"must be a level of the cluster: {', '.join(self.levels)}"
            raise InvalidInput("level", shorten(str(level)), rule)

    def _names(self) -> list[str]:
        """Return the names of all switches, machines and islands."""
        tops: Sequence[Switch] = (self.network,) if self.network else self.racks
        names = [switch.name for top in tops for switch in top.walk()]
        names += [machine.name for machine in self.machines]
        return names + [island.name for machine in self.machines for island in machine.islands]

    def _links(self) -> Mapping[str, Mapping[str, Link | None]]:
        """Return the links by kind, keyed by the name of the node from which they lead up."""
        machines = self.machines
        below = [child for switch in self.switches for child in switch.switches]
        return {
            "uplink": {each.name: each.uplink for each in below}
            | {each.name: each.uplink for each in machines},
            "gpu_link": {machine.name: machine.gpu_link for machine in machines},
            "islands": {each.name: each.uplink for machine in machines for each in machine.islands},
        }
