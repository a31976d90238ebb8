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

#: Number of slots in the longest plan; if each is a minute, more than a hundred billion years.
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
    """Return the GPU counts on which a job can run, and its speed on each.

    A count is omitted if the cluster has fewer GPUs, or if the job is no faster on it than on a smaller count.
    """
    levels: dict[int, float] = {}
    for count in state.jobs[number].counts:
        if count <= state.cluster.gpus:
            speed = float(state.rate(number, count, tier=state.cluster.best_tier(count)))
            if speed > max(levels.values(), default=-inf):
                levels[count] = speed
    return tuple(levels), tuple(levels.values())


class PlannedShare(NamedTuple):
    """The GPUs planned for a job.

    The fields are the limit on the job's number of GPUs in any slot (its level), its number of GPUs in the
    first slot, and the number of slots until it completes.
    """

    level: int
    now: int
    slots: int


class SlotProfile:
    """The number of GPUs that are left in each slot, from now on; all slots have a given length."""

    def __init__(self, gpus: int, length: float) -> None:
        self._length = length
        self._ends: _Whole = np.array([_LATEST])
        self._left: _Whole = np.array([gpus])

    @property
    def left(self) -> list[tuple[int, int]]:
        """The periods in which the number of GPUs left is constant, in order.

        Each period is given by the number of slots from now to its end, and the number of GPUs left.
        """
        return list(zip(self._ends.tolist(), self._left.tolist(), strict=True))

    def serve(self, request: ProfileRequest, least: int = 0) -> PlannedShare | None:
        """Plan a job at its lowest level, at least `least`, that meets the deadline; return None if none does.

        A level is a number of GPUs on which the job can run. In each slot, the job takes as many of the
        remaining GPUs as it can use, up to its level. Without a deadline, the job only has to complete.

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
