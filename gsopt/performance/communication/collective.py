"""Collective: the duration of an all-reduce of any size, as a latency and a time per byte."""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field

from gsopt.core.problem import Frozen
from gsopt.performance.communication.wire import Dimension

#: A time in seconds, or in seconds per byte.
_Time = Annotated[float, Field(ge=0, le=1e18)]


class Collective(Frozen):
    """The duration of an all-reduce on given GPUs, as a latency and a time per byte.

    Attributes
    ----------
    latency
        Duration of an all-reduce of 0 bytes, in seconds.
    per_byte
        Additional seconds per byte.

    Examples
    --------
    >>> Collective(latency=2.5e-4, per_byte=1e-12).seconds(1e8)
    0.00035
    """

    latency: _Time
    per_byte: _Time = 0.0

    @classmethod
    def of(cls, dimensions: Sequence[Dimension]) -> Self:
        """Return the latency and the time per byte of a hierarchical all-reduce over the given dimensions.

        The dimensions are given innermost first. With one dimension, the all-reduce is that of `flat_ring`.

        Each dimension of p units adds 2 (p - 1) h l to the latency and 2 (p - 1) / (P b) to the time per byte,
        for h hops of l seconds and b bytes per second. P is the product of the numbers of units of this
        dimension and of all inner ones. Without dimensions, the latency and the time per byte are 0.

        Examples
        --------
        >>> from gsopt.performance.communication import Wire
        >>> Collective.of([Dimension(units=8, wire=Wire(bandwidth=1e9, latency=1e-6))])
        Collective(latency=2.8e-05, per_byte=1.75e-09)
        """
        latency, per_byte, units = 0.0, 0.0, 1
        for each in dimensions:
            steps, units = 2 * (each.units - 1), units * each.units
            latency += steps * each.hops * each.wire.latency
            per_byte += steps / (units * each.wire.bandwidth)
        return cls(latency=latency, per_byte=per_byte)

    def seconds(self, size: float) -> float:
        """Return the duration, in seconds, of an all-reduce of `size` bytes."""
        return self.latency + self.per_byte * size
