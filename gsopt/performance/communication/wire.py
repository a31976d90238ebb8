"""Wire: the links of one level, and the units that they connect."""

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from math import floor
from typing import Annotated

from pydantic import Field

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.numbers.grid import decimal
from gsopt.core.problem import Frozen
from gsopt.performance.communication.units import gigabits

#: Nanoseconds per second.
_NANOSECONDS = 10**9


class Wiring(StrEnum):
    """The ways in which the units of one level can be connected.

    Examples
    --------
    >>> Wire(bandwidth=1e9, wiring=Wiring.RING).hops(8), Wire(bandwidth=1e9, wiring=Wiring.SWITCH).hops(8)
    (1, 2)
    """

    RING = "ring"
    FULL = "fully connected"
    SWITCH = "switch"


class Wire(Frozen):
    """The identical links of one level, each of which carries one message at a time.

    Attributes
    ----------
    bandwidth
        Rate of one link, in bytes per second.
    latency
        Time of each hop, in seconds, regardless of the size of the message.
    wiring
        The way in which the links connect the units. A message to the next unit takes one hop, or two hops
        through a switch.

    Examples
    --------
    >>> wire = Wire(bandwidth=1e9, latency=1e-6)
    >>> wire.hops(8), wire.send(1000, 2)
    (2, 3e-06)
    """

    bandwidth: Annotated[float, Field(gt=0, le=1e18)]
    latency: Annotated[float, Field(ge=0, le=1e9)] = 0.0
    wiring: Annotated[Wiring, Field(strict=False)] = Wiring.SWITCH

    def hops(self, units: int, distance: int = 1, *, one_way: bool = False) -> int:
        """Return the number of hops from unit i to unit i + `distance`, where indices wrap around.

        In a ring, a message goes the shorter way around, or always forwards if `one_way` is set.

        Examples
        --------
        >>> ring = Wire(bandwidth=1e9, wiring=Wiring.RING)
        >>> ring.hops(8, 6), ring.hops(8, 6, one_way=True)
        (2, 6)
        """
        if units < 1:
            raise InvalidInput("units", shorten(units), "must be at least 1")
        forward = distance % units
        if not forward:
            return 0
        there = {
            Wiring.RING: forward if one_way else min(forward, units - forward),
            Wiring.FULL: 1,
            Wiring.SWITCH: 2,
        }
        return there[self.wiring]

    def send(self, size: float, hops: int, *, whole: bool = False) -> float:
        """Return the time, in seconds, that a message of `size` bytes takes over the given number of hops.

        Bytes are forwarded as they arrive, so that additional hops add only latency. Source: the analytical
        network of ASTRA-sim, without congestion. ASTRA-sim truncates times to whole nanoseconds; so does this
        method if `whole` is set.

        Examples
        --------
        >>> wire = Wire(bandwidth=3e9, latency=1e-9)
        >>> wire.send(10, 2) > wire.send(10, 2, whole=True), wire.send(10, 2, whole=True)
        (True, 5e-09)
        """
        if not whole:
            return hops * self.latency + size / self.bandwidth
        time = hops * decimal(self.latency) + Fraction(decimal(size)) / decimal(self.bandwidth)
        return floor(time * _NANOSECONDS) / _NANOSECONDS


class Dimension(Frozen):
    """One level of the network: its units, such as the machines of a rack, and the wires between them.

    Examples
    --------
    >>> Dimension(units=8, wire=Wire(bandwidth=1e9)).hops
    2
    """

    units: Annotated[int, Field(ge=1, le=10_000_000)]
    wire: Wire

    @property
    def hops(self) -> int:
        """Number of hops from a unit to the next one; 0 for a single unit."""
        return self.wire.hops(self.units)


#: The network of Dally's clusters: NVSwitch as a ring of the GPUs in a machine, Quantum (InfiniBand) and
#: Spectrum (Ethernet) switches. The bandwidths are from section III-C. The paper reports no latencies. With
#: these values, a ring of 8 GPUs has the latency that fits Table I, though that fit is off by a factor of
#: about two for the rack and ten for the machine.
DALLY_WIRES: Mapping[str, Wire] = {
    "machine": Wire(bandwidth=gigabits(900), latency=62e-9, wiring=Wiring.RING),
    "rack": Wire(bandwidth=gigabits(400), latency=0.32e-6),
    "network": Wire(bandwidth=gigabits(800), latency=8.9e-6),
}
