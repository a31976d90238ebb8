"""Profile: the GPUs that are left in every slot of time, and the least share of them that suffices a job."""

from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gsopt.core.numbers.tolerances import SUM
from heuristics.policies.elasticflow.wish import Wish

_Whole = NDArray[np.int64]

#: Slots of the longest plan: a hundred thousand years of minutes.
_LATEST = 2**56


class PlannedShare(NamedTuple):
    """What a job gets in a plan.

    Attributes
    ----------
    level
        The most GPUs that it gets in any slot.
    now
        Those that it gets in the first slot.
    slots
        Slots until it is complete.
    """

    level: int
    now: int
    slots: int


class SlotProfile:
    """The GPUs that are left in every slot, from now on.

    Parameters
    ----------
    gpus
        GPUs that are left in all slots.
    length
        Seconds of a slot.
    """

    def __init__(self, gpus: int, length: float) -> None:
        self._length = length
        self._ends: _Whole = np.array([_LATEST])
        self._left: _Whole = np.array([gpus])

    @property
    def left(self) -> list[tuple[int, int]]:
        """Times, as the slot at which each ends, with the GPUs that are left until then."""
        return list(zip(self._ends.tolist(), self._left.tolist(), strict=True))

    def serve(self, wish: Wish, least: int = 0) -> PlannedShare | None:
        """Return a job the least level from some on that keeps its deadline, and take that; None if none does.

        With a level it gets, slot by slot, the most GPUs up to it on which it can run that are left. A job
        without a deadline gets its lowest level.

        Source: ElasticFlow (ASPLOS 2023), section 4.1, Algorithm 1, progressive filling.
        """
        levels = np.array((0, *wish.levels))
        speeds = np.array((0.0, *wish.speeds))
        until = _LATEST if wish.slots is None else wish.slots
        lengths = np.diff(np.minimum(self._ends, until), prepend=0)
        for top in range(max(int(np.searchsorted(levels, least)), 1), len(levels)):
            rungs = np.minimum(np.searchsorted(levels, self._left, side="right") - 1, top)
            done = np.cumsum(speeds[rungs] * lengths * self._length)
            if done[-1] >= wish.work * (1 - SUM):
                return self._take(wish, levels[rungs], speeds[rungs], done, int(levels[top]))
        return None

    def _take(
        self, wish: Wish, gpus: _Whole, speeds: NDArray[np.float64], done: NDArray[np.float64], level: int
    ) -> PlannedShare:
        """Take GPUs from the times of a profile, until a job is complete."""
        last = int(np.searchsorted(done, wish.work * (1 - SUM)))
        begin = int(self._ends[last - 1]) if last else 0
        before = float(done[last - 1]) if last else 0.0
        each = float(speeds[last]) * self._length
        missing = wish.work * (1 - SUM) - before
        slots = begin + (ceil(missing / each) if missing > 0 else 0)
        if begin < slots < self._ends[last]:
            self._ends = np.insert(self._ends, last, slots)
            self._left = np.insert(self._left, last, self._left[last])
        used = last + (begin < slots)
        self._left[:used] -= gpus[:used]
        return PlannedShare(level, int(gpus[0]) if slots else 0, slots)
