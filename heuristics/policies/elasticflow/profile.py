"""Profile: the GPUs left in every slot, and the smallest share with which a job meets its deadline."""

from dataclasses import dataclass
from math import ceil, inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gsopt.core.numbers.tolerances import SUM
from gsopt.simulation.policy import State

_Whole = NDArray[np.int64]
_Floats = NDArray[np.float64]

#: Number of slots in the longest plan; if each is a minute, more than a hundred thousand years.
_LATEST = 2**56


@dataclass(frozen=True)
class ProfileRequest:
    """A job's remaining work and deadline, and its speed on each number of GPUs."""

    number: int
    work: float  # seconds of work at speed 1 that are left
    levels: tuple[int, ...]  # numbers of GPUs on which the job can run, ascending, each faster than the last
    speeds: tuple[float, ...]  # its speed on each of them
    slots: float | None  # slots until its deadline, if it has one; the last may be a part of one

    def speed(self, gpus: int) -> float:
        """Return the job's speed on one of its levels, or 0 on no GPUs."""
        return self.speeds[self.levels.index(gpus)] if gpus else 0.0


def levels_of(state: State, number: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the GPU counts on which a job can run, with its speeds, omitting counts that are no faster."""
    levels: dict[int, float] = {}
    for count in state.jobs[number].counts:
        if count <= state.cluster.gpus:
            speed = float(state.rate(number, count, tier=state.cluster.best_tier(count)))
            if speed > max(levels.values(), default=-inf):
                levels[count] = speed
    return tuple(levels), tuple(levels.values())


class PlannedShare(NamedTuple):
    """A job's share: its most GPUs in any slot, its GPUs in the first slot, and its slots until completion."""

    level: int
    now: int
    slots: int


class SlotProfile:
    """The GPUs left in every slot of a given length, from now on."""

    def __init__(self, gpus: int, length: float) -> None:
        self._length = length
        self._ends: _Whole = np.array([_LATEST])
        self._left: _Whole = np.array([gpus])

    @property
    def left(self) -> list[tuple[int, int]]:
        """The periods with a constant number of GPUs left, as pairs: the slot at the end, and the GPUs left."""
        return list(zip(self._ends.tolist(), self._left.tolist(), strict=True))

    def serve(self, request: ProfileRequest, least: int = 0) -> PlannedShare | None:
        """Take the lowest level, at least `least`, that meets a job's deadline; return None if there is none.

        On a level, the job gets in each slot as many of the remaining GPUs as it can use, up to that level. A
        job without a deadline gets its lowest level.

        Source: ElasticFlow (ASPLOS 2023), section 4.1, Algorithm 1 (progressive filling).
        """
        levels = np.array((0, *request.levels))
        speeds = np.array((0.0, *request.speeds))
        until = _LATEST if request.slots is None else request.slots
        lengths = np.diff(np.minimum(self._ends, until), prepend=0)
        for top in range(max(int(np.searchsorted(levels, least)), 1), len(levels)):
            rungs = np.minimum(np.searchsorted(levels, self._left, side="right") - 1, top)
            done = np.cumsum(speeds[rungs] * lengths * self._length)
            if done[-1] >= request.work * (1 - SUM):
                work = request.work * (1 - SUM)
                return PlannedShare(int(levels[top]), *self._take(work, levels[rungs], speeds[rungs], done))
        return None

    def _take(self, work: float, gpus: _Whole, speeds: _Floats, done: _Floats) -> tuple[int, int]:
        """Take GPUs until a job completes; return its GPUs in the first slot and its number of slots."""
        last = int(np.searchsorted(done, work))
        begin = int(self._ends[last - 1]) if last else 0
        missing = work - (float(done[last - 1]) if last else 0.0)
        slots = begin + (ceil(missing / (float(speeds[last]) * self._length)) if missing > 0 else 0)
        if begin < slots < self._ends[last]:
            self._ends = np.insert(self._ends, last, slots)
            self._left = np.insert(self._left, last, self._left[last])
        used = last + (begin < slots)
        self._left[:used] -= gpus[:used]
        return int(gpus[0]) if slots else 0, slots
