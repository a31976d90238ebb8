"""Decimals: many floats at once, as integers over a power of ten."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Powers of ten up to this one are exact doubles.
_MOST_PLACES = 22

#: Decimals of up to 15 digits have different nearest doubles.
_LARGEST = 10.0**15


def whole_numbers(values: ArrayLike) -> tuple[NDArray[np.int64], int] | None:
    """Read finite floats of any shape as the decimals they are written as, over a common power of ten.

    A float is the decimal n / 10**k if the quotient of both as doubles is that float and n has at most 15
    digits: division rounds correctly, no other decimal with so few digits has the same double, and its shortest
    decimal is the written one.

    Returns
    -------
    integers, denominator
        Integers of the same shape, and 1, 10, 100, ...; None if 15 digits do not hold all of the values.

    Examples
    --------
    >>> whole_numbers([1.1, 20, -0.05]), whole_numbers([1e9, 1e-9])
    ((array([ 110, 2000,   -5]), 100), None)
    """
    floats: NDArray[Any] = np.asarray(values, dtype=np.float64)
    largest = float(np.abs(floats).max(initial=0.0))
    for places in range(_MOST_PLACES + 1):
        power = 10.0**places
        if largest * power >= _LARGEST:
            return None
        scaled = np.rint(floats * power)
        if np.array_equal(scaled / power, floats):
            return scaled.astype(np.int64), 10**places
    return None
