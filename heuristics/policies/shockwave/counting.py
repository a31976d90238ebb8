"""Counting: the best number of rounds for each job, ignoring which rounds these are."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from heuristics.policies.shockwave.window import Counts, Window


class WindowRelaxation:
    """A relaxation of a window's plans: only the total GPU-rounds of all jobs are limited.

    Every plan satisfies this limit. Conversely, numbers of rounds that satisfy it can usually be made into a
    plan, because small jobs fill the gaps.
    """

    def __init__(self, window: Window) -> None:
        self._window, self._room = window, window.gpus * window.rounds
        efficiency = (window.gains / window.sizes[:, None]).ravel()
        self._order = np.argsort(-efficiency, kind="stable")
        self._order = self._order[efficiency[self._order] > 0]
        self._job, self._place = np.divmod(self._order, max(window.rounds, 1))
        self._gain = window.gains.ravel()[self._order]
        self._size = window.sizes[self._job].astype(np.float64)

    def ceiling(self, least: Counts) -> float | None:
        """Return an upper bound on the total gain with at least `least` rounds per job, or None if infeasible.

        The largest gains per GPU are taken first, and the last one fractionally. This solves a linear program.
        """
        room = self._room - int(self._window.sizes @ least)
        if room < 0:
            return None
        free = self._place >= least[self._job]
        before = np.cumsum(self._size * free) - self._size * free
        taken = np.clip(room - before, 0.0, self._size) / self._size * free
        return self._window.gained(least) + float(taken @ self._gain)

    def choices(self, least: Counts) -> Iterator[Counts]:
        """Yield the best numbers of rounds of the jobs, then the best ones with fewer and fewer GPU-rounds.

        The best numbers have the largest total gain; ties go to fewer GPU-rounds. Each job gets at least its
        number of rounds in `least`; together, these must fit. This is a multiple-choice knapsack, solved by
        dynamic programming over the GPU-rounds used: O(J R^2 M) for J jobs and R rounds on M GPUs, and O(J) for
        each choice.
        """
        room = self._room - int(self._window.sizes @ least)
        value = np.zeros(room + 1)
        chosen = np.zeros((len(least), room + 1), dtype=np.int16)
        for job, row in enumerate(self._window.gains):
            value = _with_job(value, chosen[job], int(self._window.sizes[job]), row[least[job] :])
        for used in range(room, -1, -1):
            if used == 0 or value[used] > value[used - 1]:
                yield least + self._traced(chosen, used)

    def _traced(self, chosen: NDArray[np.int16], used: int) -> Counts:
        """Return the additional rounds of each job that make up the best value with `used` GPU-rounds."""
        extra = np.zeros(len(chosen), dtype=np.int64)
        for job in range(len(chosen) - 1, -1, -1):
            extra[job] = chosen[job, used]
            used -= int(extra[job] * self._window.sizes[job])
        return extra


def _with_job(
    value: NDArray[np.float64], chosen: NDArray[np.int16], size: int, gains: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the best gain for each number of GPU-rounds with one more job, and record the job's rounds."""
    best, gained = value.copy(), 0.0
    for extra, gain in enumerate(gains, start=1):
        used = extra * size
        if used >= len(value) or gain <= 0:
            break
        gained += gain
        with_it = value[:-used] + gained
        better = with_it > best[used:]
        best[used:][better] = with_it[better]
        chosen[used:][better] = extra
    return best
