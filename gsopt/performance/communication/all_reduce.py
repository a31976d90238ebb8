"""All-reduce: the time that common algorithms take to add up the gradients of all units."""

from collections.abc import Sequence
from math import inf, prod

from gsopt.core.errors import require
from gsopt.performance.communication.wire import Dimension


def flat_ring(size: float, dimension: Dimension, *, whole: bool = False) -> float:
    """Return the duration, in seconds, of a ring all-reduce of `size` bytes on every unit.

    With p units, M bytes (`size`) are cut into p parts, and every unit passes on one part in each of 2 (p - 1)
    steps. This takes 2 (p - 1) (h l + M / (p b)) seconds, for h hops of l seconds and b bytes per second, and 0
    seconds for a single unit.

    Source: the ring of ASTRA-sim, the simulator that Dally uses (section II-B). NCCL's ring is the same.

    Parameters
    ----------
    size
        Number of bytes on every unit.
    dimension
        The units, and the wires between them.
    whole
        Whether the duration of each step is truncated to whole nanoseconds; see `Wire.send`.

    Examples
    --------
    >>> from gsopt.performance.communication import Wire
    >>> flat_ring(8e9, Dimension(units=4, wire=Wire(bandwidth=1e9, latency=0.5)))
    18.0
    """
    _require_size(size)
    units = dimension.units
    return 2 * (units - 1) * dimension.wire.send(size / units, dimension.hops, whole=whole)


def hierarchical(size: float, dimensions: Sequence[Dimension], *, whole: bool = False) -> float:
    """Return the duration, in seconds, of a hierarchical all-reduce.

    Reduce-scatters run from the innermost dimension outwards, and all-gathers from the outermost dimension
    inwards. In every dimension, data are passed on in a ring, as in `flat_ring`. After the reduce-scatter among
    the p units of the first dimension, each unit has only 1/p of the bytes, so the outer rings carry less
    data. The dimensions are processed one after another, without pipelining.

    Source: the hierarchical collective of ASTRA-sim with a single chunk.

    Parameters
    ----------
    size, whole
        As in `flat_ring`.
    dimensions
        The dimensions, innermost first. Each GPU is part of one ring in every dimension.

    Examples
    --------
    >>> from gsopt.performance.communication import Wire
    >>> near, far = Wire(bandwidth=4e9, latency=0), Wire(bandwidth=1e9, latency=1, wiring="ring")
    >>> hierarchical(8e9, [Dimension(units=4, wire=near), Dimension(units=2, wire=far)])
    7.0
    """
    _require_size(size)
    inside = [prod(each.units for each in dimensions[:level]) for level in range(len(dimensions))]
    return sum(
        flat_ring(size / units, dimension, whole=whole)
        for units, dimension in zip(inside, dimensions, strict=True)
    )


def halving(size: float, dimension: Dimension) -> float:
    """Return the duration, in seconds, of an all-reduce by recursive halving and doubling or by a double tree.

    Both algorithms are assumed to send as many bytes as a ring (`flat_ring`), in 2 ceil(log2 p) steps for p
    units. With M bytes on each unit, h hops of l seconds per step, and b bytes per second, this takes 2
    ceil(log2 p) h l + 2 (p - 1) M / (p b) seconds. Every step is assumed to take as many hops as a message to
    the next unit. This number of hops is exact for units that are behind a switch or fully connected, but may
    be too low for those in a ring.

    Examples
    --------
    >>> from gsopt.performance.communication import Wire
    >>> halving(8e9, Dimension(units=4, wire=Wire(bandwidth=1e9, latency=0.5)))
    16.0
    """
    _require_size(size)
    units = dimension.units
    steps = 2 * (units - 1).bit_length()
    wire = dimension.wire
    return steps * dimension.hops * wire.latency + 2 * (units - 1) / units * size / wire.bandwidth


def _require_size(size: float) -> None:
    require(0 <= size < inf, "size", size, "must be a number of bytes")
