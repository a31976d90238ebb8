"""Collective: an all-reduce of any size as a latency and a time per byte."""

from collections.abc import Sequence
from math import prod
from typing import Annotated, Self

from pydantic import Field

from gsopt.core.problem import Frozen
from gsopt.performance.communication.wire import Dimension

#: Seconds, and seconds per byte, of which nothing is computed any more.
_Time = Annotated[float, Field(ge=0, le=1e18)]


class Collective(Frozen):
    """How long an all-reduce takes on given GPUs: a latency, and a time for every byte.

    Attributes
    ----------
    latency
        Seconds of an all-reduce of no bytes.
    per_byte
        Further seconds of each byte.

    Examples
    --------
    >>> Collective(latency=2.5e-4, per_byte=1e-12).seconds(1e8)
    0.00035
    """

    latency: _Time
    per_byte: _Time = 0.0

    @classmethod
    def of(cls, dimensions: Sequence[Dimension]) -> Self:
        """Build the hierarchical all-reduce over dimensions, innermost first; a ring where there is only one.

        Each dimension of p units adds 2 (p - 1) h l to the latency and 2 (p - 1) / (P b) to the time per byte:
        h hops of l seconds, b bytes per second, and P the product of all units up to it. No units, no time.

        Examples
        --------
        >>> from gsopt.performance.communication import Wire
        >>> Collective.of([Dimension(units=8, wire=Wire(bandwidth=1e9, latency=1e-6))])
        Collective(latency=2.8e-05, per_byte=1.75e-09)
        """
        steps = [2 * (each.units - 1) for each in dimensions]
        units = [prod(each.units for each in dimensions[: level + 1]) for level in range(len(dimensions))]
        return cls(
            latency=sum(
                count * each.hops * each.wire.latency for count, each in zip(steps, dimensions, strict=True)
            ),
            per_byte=sum(
                count / (among * each.wire.bandwidth)
                for count, among, each in zip(steps, units, dimensions, strict=True)
            ),
        )

    def seconds(self, size: float) -> float:
        """Return the seconds of an all-reduce of so many bytes."""
        return self.latency + self.per_byte * size
