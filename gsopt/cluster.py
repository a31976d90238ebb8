"""Cluster: a plain number of GPUs, or racks of machines of GPUs and the network tiers between them."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from typing import Annotated, Any

from pydantic import Field, model_validator

from gsopt.problem import Frozen, Gpus, Many, Name, RuleBroken

#: GPUs of a cluster of racks; more than any that was built, and no more than memory holds.
_MOST_GPUS = 1_000_000


class Tier(StrEnum):
    """The lowest level of the network that joins all GPUs of a job."""

    MACHINE = "machine"
    RACK = "rack"
    NETWORK = "network"


class Machine(Frozen):
    """A machine and its GPUs, all of one type.

    Attributes
    ----------
    name
        Name of the machine, unique in its cluster.
    gpus
        Number of GPUs.
    gpu_type
        Type of its GPUs; empty when all GPUs of the cluster are alike.
    memory
        Bytes of each GPU; None when memory is not looked at.

    Examples
    --------
    >>> Machine(name="node 1", gpus=8, gpu_type="A100", memory=80 * 2**30).gpus
    8
    """

    name: Name
    gpus: Gpus
    gpu_type: str = ""
    memory: Annotated[int, Field(ge=1)] | None = None


class Rack(Frozen):
    """Machines behind one switch.

    Examples
    --------
    >>> [machine.name for machine in Rack(name="r", machines=[Machine(name="m", gpus=8)]).machines]
    ['m']
    """

    name: Name
    machines: Annotated[Many[Machine], Field(min_length=1)]


class Cluster(Frozen):
    """The GPUs on which a workload runs.

    A plain cluster is a number of GPUs that are all alike; which of them a job holds makes no difference. In
    a cluster of racks the GPUs are numbered from 0, rack by rack and machine by machine, and a job holds GPUs
    by number.

    Attributes
    ----------
    plain_gpus
        Number of GPUs of a plain cluster; 0 when there are racks.
    racks
        The racks; empty for a plain cluster.

    Examples
    --------
    >>> Cluster.plain(64).gpus
    64
    >>> cluster = Cluster.uniform(racks=2, machines=2, gpus=4)
    >>> cluster.gpus, cluster.tier([0, 1]), cluster.tier([3, 4]), cluster.tier([0, 8])
    (16, <Tier.MACHINE: 'machine'>, <Tier.RACK: 'rack'>, <Tier.NETWORK: 'network'>)
    """

    plain_gpus: Annotated[int, Field(ge=0, le=10_000_000)] = 0
    racks: Many[Rack] = ()

    @model_validator(mode="after")
    def _plain_or_racks(self) -> "Cluster":
        if (self.plain_gpus > 0) == bool(self.racks):
            rule = "must be a positive number without racks, or 0 with racks"
            raise RuleBroken("plain_gpus", self.plain_gpus, rule)
        return self

    @model_validator(mode="after")
    def _not_too_large(self) -> "Cluster":
        """GPUs of racks are looked at one by one."""
        if self.racks and self.gpus > _MOST_GPUS:
            raise RuleBroken("racks", self.gpus, f"must have at most {_MOST_GPUS:,} GPUs in all")
        return self

    @model_validator(mode="after")
    def _names_differ(self) -> "Cluster":
        names = [rack.name for rack in self.racks] + [machine.name for machine in self.machines]
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise RuleBroken("racks", name, "must name one rack or machine only")
            seen.add(name)
        return self

    @classmethod
    def plain(cls, gpus: int) -> "Cluster":
        """Make a cluster of a number of GPUs that are all alike.

        Examples
        --------
        >>> Cluster.plain(64).gpus
        64
        """
        return cls(plain_gpus=gpus)

    @classmethod
    def uniform(cls, *, racks: int = 1, machines: int, gpus: int, memory: int | None = None) -> "Cluster":
        """Make a cluster of equal racks of equal machines; `gpus` counts those of one machine.

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

    @property
    def is_plain(self) -> bool:
        """Whether the cluster is only a number of GPUs."""
        return not self.racks

    @cached_property
    def gpus(self) -> int:
        """Number of GPUs."""
        return self.plain_gpus or sum(machine.gpus for machine in self.machines)

    @cached_property
    def machines(self) -> tuple[Machine, ...]:
        """Every machine, rack by rack."""
        return tuple(machine for rack in self.racks for machine in rack.machines)

    @cached_property
    def machine_of(self) -> tuple[int, ...]:
        """Number of the machine of every GPU."""
        return tuple(index for index, machine in enumerate(self.machines) for _ in range(machine.gpus))

    @cached_property
    def gpus_of(self) -> Mapping[str, range]:
        """Numbers of the GPUs of every machine, by its name."""
        ends = accumulate(machine.gpus for machine in self.machines)
        return {
            machine.name: range(end - machine.gpus, end)
            for machine, end in zip(self.machines, ends, strict=True)
        }

    @cached_property
    def rack_of(self) -> tuple[int, ...]:
        """Number of the rack of every machine."""
        return tuple(index for index, rack in enumerate(self.racks) for _ in rack.machines)

    def room(self, gpu_type: str = "", memory: int = 0) -> int:
        """Count the GPUs of a type, of any when empty, that have so much memory each.

        The GPUs of a plain cluster have no type, and their memory is not looked at.

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

    def tier(self, gpus: Sequence[int]) -> Tier:
        """Find the tier that joins GPUs, given by number."""
        machines = {self.machine_of[gpu] for gpu in gpus}
        if len(machines) <= 1:
            return Tier.MACHINE
        racks = {self.rack_of[machine] for machine in machines}
        return Tier.RACK if len(racks) == 1 else Tier.NETWORK

    def graph(self) -> Any:
        """Give the cluster as a networkx tree: datacenter, racks, machines, GPUs.

        Nodes are ``"datacenter"``, names of racks and machines, and GPU numbers; each has its `kind`.

        Examples
        --------
        >>> tree = Cluster.uniform(racks=2, machines=2, gpus=4).graph()
        >>> tree.number_of_nodes(), tree.nodes[0]["kind"]
        (23, 'gpu')
        """
        import networkx as nx

        tree = nx.Graph()
        tree.add_node("datacenter", kind="datacenter")
        number = 0
        for rack in self.racks:
            tree.add_node(rack.name, kind="rack")
            tree.add_edge("datacenter", rack.name, tier=Tier.NETWORK)
            for machine in rack.machines:
                tree.add_node(machine.name, kind="machine")
                tree.add_edge(rack.name, machine.name, tier=Tier.RACK)
                for gpu in range(number, number + machine.gpus):
                    tree.add_node(gpu, kind="gpu")
                    tree.add_edge(machine.name, gpu, tier=Tier.MACHINE)
                number += machine.gpus
        for gpu in range(self.plain_gpus):
            tree.add_node(gpu, kind="gpu")
            tree.add_edge("datacenter", gpu, tier=Tier.MACHINE)
        return tree
