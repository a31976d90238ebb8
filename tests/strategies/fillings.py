"""Fillings of one server, all of them, for the tests of pricing."""

from itertools import product

import numpy as np
from numpy.typing import NDArray


def best_worth(
    demands: NDArray[np.int64], worth: NDArray[np.float64], room: NDArray[np.int64], most: int
) -> float:
    """Find the most that a filling of a room is worth by trying all with up to `most` workers of a demand."""
    holds = [
        min(most, (room[need > 0] // need[need > 0]).min()) if (need <= room).all() else 0 for need in demands
    ]
    fillings = (np.array(counts) for counts in product(*(range(count + 1) for count in holds)))
    return max(float(worth @ counts) for counts in fillings if (counts @ demands <= room).all())
