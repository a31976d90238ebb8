"""Decimals: the conversion of float arrays to integers over a common power of ten."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Largest exponent of a power of ten that is exact as a double.
_MOST_PLACES = 22

#: Integers must be below this limit: different decimals of at most 15 digits have different nearest doubles.
_LARGEST = 10.0**15


def whole_numbers(values: ArrayLike) -> tuple[NDArray[np.int64], int] | None:
    """Return the shortest decimals of finite floats, as integers over a common power of ten.

    Returns
    -------
    integers, denominator
        Integers in the shape of the input, and the power of ten. Both are replaced by a single None if an
        integer would have more than 15 digits, or if the denominator would exceed 10**22.

    Examples
    --------
    >>> whole_numbers([1.1, 20, -0.05]), whole_numbers([1e9, 1e-9])
    ((array([ 110, 2000,   -5]), 100), None)
    """
    floats: NDArray[Any] = np.asarray(values, dtype=np.float64)
    largest = float(np.abs(floats).max(initial=0.0))
    # If n has at most 15 digits and n / 10**k in doubles is the float, then n / 10**k is its shortest decimal:
    # division rounds correctly, and no other decimal with at most 15 digits has the same double.
    for places in range(_MOST_PLACES + 1):
        power = 10.0**places
        if largest * power >= _LARGEST:
            return None
        scaled = np.rint(floats * power)
        if np.array_equal(scaled / power, floats):
            return scaled.astype(np.int64), 10**places
    return None
