"""Machine: the GPUs of one server, and the islands of GPUs that faster links connect."""

from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator, model_validator

from gsopt.core.problem import Gpus, Many, Name, RuleBroken
from gsopt.scenario.cluster.lean import Lean
from gsopt.scenario.cluster.link import Link


class Island(Lean):
    """GPUs of one machine that are connected by faster links, such as an NVLink domain.

    Attributes
    ----------
    name
        Name of the island, unique in its cluster.
    gpus
        Number of GPUs.
    uplink
        Link from the island to its machine; None if links are not modelled.

    Examples
    --------
    >>> Island(name="node 1 left", gpus=4).gpus
    4
    """

    later = frozenset({"uplink"})

    name: Name
    gpus: Gpus
    uplink: Link | None = None


class Machine(Lean):
    """A machine and its GPUs, all of one type.

    Attributes
    ----------
    name
        Name of the machine, unique in its cluster.
    gpus
        Number of GPUs.
    gpu_type
        Type of the machine's GPUs; empty if types are not modelled.
    memory
        Memory of each GPU, in bytes; None if memory is not modelled.
    islands
        The machine's islands, which contain all of its GPUs; empty if all GPUs are connected in the same way.
        Islands given as numbers of GPUs are named after the machine.
    gpu_link
        Link from each GPU to its island or, if there are no islands, to the machine; None if links are not
        modelled.
    uplink
        Link from the machine to its switch; None if links are not modelled.

    Examples
    --------
    >>> Machine(name="node 1", gpus=8, gpu_type="A100", memory=80 * 2**30).gpus
    8
    >>> [island.name for island in Machine(name="node 2", gpus=8, islands=[4, 4]).islands]
    ['node 2 island 0', 'node 2 island 1']
    """

    later = frozenset({"islands", "gpu_link", "uplink"})

    name: Name
    gpus: Gpus
    gpu_type: str = ""
    memory: Annotated[int, Field(ge=1)] | None = None
    islands: Many[Island] = ()
    gpu_link: Link | None = None
    uplink: Link | None = None

    @field_validator("islands", mode="before")
    @classmethod
    def _islands_of_numbers(cls, given: Any, info: ValidationInfo) -> Any:
        """Name the islands that are given only as numbers of GPUs."""
        if not isinstance(given, list | tuple):
            return given
        owner = info.data.get("name", "")
        return [
            {"name": f"{owner} island {index}", "gpus": each}
            if isinstance(each, int) and not isinstance(each, bool)
            else each
            for index, each in enumerate(given)
        ]

    @model_validator(mode="after")
    def _islands_hold_all_gpus(self) -> "Machine":
        held = sum(island.gpus for island in self.islands)
        if self.islands and held != self.gpus:
            raise RuleBroken("islands", held, f"must hold the {self.gpus} GPUs of machine {self.name!r} in all")
        return self
