"""Switch: machines and other switches that are connected at one point of the network."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from gsopt.core.problem import Many, Name, RuleBroken
from gsopt.scenario.cluster.lean import Lean
from gsopt.scenario.cluster.link import Link
from gsopt.scenario.cluster.machine import Machine

#: Levels of GPUs, islands and machines; no switch may be on one of them.
GPU, ISLAND, MACHINE = "gpu", "island", "machine"


class Switch(Lean):
    """Machines and other switches connected at one point of the network, such as a rack, a pod or a zone.

    An NVLink domain of several machines is also a switch, on a level such as ``"nvlink"``.

    Attributes
    ----------
    name
        Name of the switch, unique in its cluster.
    level
        Name of the switch's level, such as ``"rack"``. The order of levels must be the same on all paths from
        the root to a machine.
    machines
        Machines that are connected to the switch directly.
    switches
        Switches that are connected below the switch.
    uplink
        Link to the switch above; None for the root, or if links are not modelled.

    Examples
    --------
    >>> racks = [Rack(name=f"r{n}", machines=[Machine(name=f"m{n}", gpus=8)]) for n in range(2)]
    >>> pod = Switch(name="pod", level="pod", switches=racks)
    >>> [(switch.name, switch.level) for switch in pod.walk()]
    [('pod', 'pod'), ('r0', 'rack'), ('r1', 'rack')]
    """

    later = frozenset({"machines", "switches", "uplink"})

    name: Name
    level: Name
    machines: Many[Machine] = ()
    switches: "Many[Switch]" = ()
    uplink: Link | None = None

    @field_validator("level", mode="after")
    @classmethod
    def _level_of_switches(cls, level: str) -> str:
        if level in {GPU, ISLAND, MACHINE}:
            raise RuleBroken(
                "level", level, "must be a level of switches; machines and what is in them have none"
            )
        return level

    @field_validator("switches", mode="after")
    @classmethod
    def _racks_are_switches(cls, switches: "tuple[Switch, ...]") -> "tuple[Switch, ...]":
        return tuple(each.plain() if isinstance(each, Rack) else each for each in switches)

    @model_validator(mode="after")
    def _something_below(self) -> Self:
        if not self.machines and not self.switches:
            raise RuleBroken(
                "machines", self.machines, f"must not be empty: nothing is below switch {self.name!r}"
            )
        return self

    def walk(self) -> "Iterator[Switch]":
        """Yield the switch and all switches below it, each before those below it."""
        pending = [self]
        while pending:
            switch = pending.pop()
            yield switch
            pending += reversed(switch.switches)


class Rack(Switch):
    """A switch on the level ``"rack"``, with the machines and any switches below it.

    Examples
    --------
    >>> [machine.name for machine in Rack(name="r", machines=[Machine(name="m", gpus=8)]).machines]
    ['m']
    """

    later = frozenset({"level", "switches", "uplink"})

    level: Annotated[Literal["rack"], Field(repr=False)] = "rack"

    def plain(self) -> Switch:
        """Return the rack as a `Switch`, so that files state its level."""
        return Switch.model_construct(
            name=self.name, level="rack", machines=self.machines, switches=self.switches, uplink=self.uplink
        )
