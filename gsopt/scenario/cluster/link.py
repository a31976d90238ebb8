"""Link: the connection of a GPU, a machine or a switch to the level above."""

from typing import Annotated

from pydantic import Field

from gsopt.scenario.cluster.lean import Lean

#: Bytes per second, with decimal prefixes: 100 Gb/s are 12.5e9.
Bandwidth = Annotated[float, Field(gt=0, le=1e18)]


class Link(Lean):
    """One link of the network.

    Attributes
    ----------
    bandwidth
        Bytes per second of one transfer: 50e9 for a link of 400 Gb/s.
    latency
        Seconds that an empty message takes.
    capacity
        Bytes per second of all concurrent transfers together; None if only the bandwidth is known.

    Examples
    --------
    >>> Link(bandwidth=50e9, latency=2e-6).rate, Link(bandwidth=50e9, capacity=25e9).rate
    (50000000000.0, 25000000000.0)
    """

    later = frozenset({"latency", "capacity"})

    bandwidth: Bandwidth
    latency: Annotated[float, Field(ge=0, le=1e9)] = 0.0
    capacity: Bandwidth | None = None

    @property
    def rate(self) -> float:
        """Bytes per second of a transfer that has the link to itself."""
        return self.bandwidth if self.capacity is None else min(self.bandwidth, self.capacity)
