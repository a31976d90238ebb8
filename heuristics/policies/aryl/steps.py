"""Steps: what each further flexible worker of a job takes and saves."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Steps(NamedTuple):
    """The steps from one allowed number of flexible workers to the next, up to that of the highest speed.

    Attributes
    ----------
    extras
        Flexible workers after each step, rising.
    shares
        By what share of the time on base workers each step shortens it, shape (steps,).
    are_alike
        Whether each is one worker, and none saves more than the one before it.
    """

    extras: tuple[int, ...]
    shares: NDArray[np.float64]
    are_alike: bool


@lru_cache(maxsize=65_536)
def steps_of(speeds: tuple[float, ...]) -> Steps:
    """Return the steps of a job from its speeds with base + w workers, at index w; 0 where w is not allowed."""
    fastest = speeds.index(max(speeds))
    allowed = [extra for extra in range(fastest + 1) if speeds[extra] > 0]
    shares = [speeds[0] / speeds[few] - speeds[0] / speeds[many] for few, many in pairwise(allowed)]
    alike = len(allowed) == fastest + 1 and not any(late > early for early, late in pairwise(shares))
    return Steps(tuple(allowed[1:]), np.array(shares), alike)


def reductions(speeds: tuple[float, ...], time: float, extras: Sequence[int]) -> list[float]:
    """Return the seconds that some numbers of flexible workers save of a time on base workers."""
    return [time - time * speeds[0] / speeds[extra] for extra in extras]
