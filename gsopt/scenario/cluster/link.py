"""Link: the connection of a GPU, island, machine or switch to the level above it."""

from typing import Annotated

from pydantic import Field

from gsopt.scenario.cluster.lean import Lean

#: A bandwidth in bytes per second, with decimal prefixes: 100 Gb/s are 12.5e9.
Bandwidth = Annotated[float, Field(gt=0, le=1e18)]


class Link(Lean):
    """A link from a GPU, island, machine or switch to the level above it.

    Attributes
    ----------
    bandwidth
        Maximum rate of a single transfer in bytes per second: 50e9 for a link of 400 Gb/s.
    latency
        Time that an empty message takes, in seconds.
    capacity
        Maximum total rate of all concurrent transfers in bytes per second; None if only the bandwidth is known.

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
        """Bytes per second of a transfer that has the whole link to itself."""
        return self.bandwidth if self.capacity is None else min(self.bandwidth, self.capacity)
