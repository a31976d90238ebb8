"""Units: the conversion of bandwidths in data sheets and configuration files to bytes per second.

Data sheets of network links use bits (Gb/s), and those of GPUs usually use bytes (GB/s), both in powers of ten.
The network files of ASTRA-sim use bytes, and their "GB" is 2**30 bytes. If it were read as a decimal unit,
every bandwidth would be 7 % too low.
"""

#: Number of bytes in a gigabyte, and in what ASTRA-sim calls a gigabyte.
_DECIMAL, _BINARY = 10**9, 2**30
_BITS_PER_BYTE = 8


def gigabits(per_second: float) -> float:
    """Convert Gb/s, the unit in data sheets of network links, to bytes per second.

    Examples
    --------
    >>> gigabits(400)
    50000000000.0
    """
    return per_second * _DECIMAL / _BITS_PER_BYTE


def gigabytes(per_second: float, *, binary: bool = False) -> float:
    """Convert GB/s, the usual unit in data sheets of GPUs, to bytes per second.

    If `binary` is set, a GB has 2**30 bytes, as in the network files of ASTRA-sim.

    Examples
    --------
    >>> gigabytes(25), gigabytes(25, binary=True)
    (25000000000, 26843545600)
    """
    return per_second * (_BINARY if binary else _DECIMAL)
