"""Rows: a table of minimum costs that keeps only some of its rows and computes the others again."""

from dataclasses import dataclass, field
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from formulations.batching.case import LARGEST_TABLE
from gsopt.core.budget import Budget
from gsopt.core.errors import TimeUp, Unsupported
from gsopt.performance.batching.split import add_jobs, read_back

Floats = NDArray[np.float64]

#: Number of additions between two checks of the clock.
_CHUNK = 20_000_000


@dataclass(eq=False)
class CostRows:
    """The minimum costs of the first k jobs, for every k, by number of GPUs used, one row per k.

    A table of all rows may not fit in memory. In that case, the jobs are divided into blocks. Only the first
    row of each block and all rows of the block used last are kept. If rows of another block are needed, they
    are computed again from its first row.
    """

    costs: Floats  # cost of each job on 0, 1, ... GPUs, shape (jobs, most GPUs of a job + 1)
    budget: Budget  # its time limit holds for rows that are computed again
    step: int  # number of jobs in a block
    firsts: list[Floats]  # first row of each block
    last: Floats  # row of all jobs
    _block: dict[int, Floats] = field(default_factory=dict)  # rows of the block used last

    @classmethod
    def of(cls, costs: Floats, gpus: int, budget: Budget) -> "CostRows | None":
        """Fill the table, or return None if time runs out.

        Raises `Unsupported` if the rows to be kept have more than `LARGEST_TABLE` cells.
        """
        step, row, firsts = _block_length(len(costs), gpus), np.full(gpus + 1, np.inf), list[Floats]()
        row[0], block = 0.0, dict[int, Floats]()
        for number, begin in enumerate(range(0, max(len(costs), 1), step)):
            firsts.append(row)
            filled = filled_table(costs[begin : begin + step], gpus, budget, first=row)
            if filled is None:
                return None
            row, block = filled[-1].copy(), {number: filled}
        return cls(costs, budget, step, firsts, row, block)

    def __getitem__(self, place: int) -> Floats:
        """Return the row of the first `place` jobs; -1 stands for all jobs."""
        if place in (-1, len(self.costs)):
            return self.last
        number, offset = divmod(place, self.step)
        row: Floats = self._rows(number)[offset]
        return row

    def read_back(self, used: int) -> list[int]:
        """Return each job's number of GPUs in a minimum-cost allocation of the given total number of GPUs."""
        parts: list[list[int]] = []
        for number in range(len(self.firsts) - 1, -1, -1):
            parts.append(read_back(self._rows(number), self._costs(number), used).tolist())
            used -= sum(parts[-1])
        return [count for part in reversed(parts) for count in part]

    def _costs(self, number: int) -> Floats:
        return self.costs[number * self.step : (number + 1) * self.step]

    def _rows(self, number: int) -> Floats:
        if number not in self._block:
            first = self.firsts[number]
            self._block.clear()
            filled = filled_table(self._costs(number), len(first) - 1, self.budget, first=first)
            if filled is None:
                raise TimeUp("the time limit expired before the rows of a table were computed again")
            self._block[number] = filled
        return self._block[number]


def _block_length(jobs: int, gpus: int) -> int:
    """Return the number of jobs in a block: all jobs if two tables of all rows fit in memory."""
    if (jobs + 1) * (gpus + 1) <= LARGEST_TABLE:
        return max(jobs, 1)
    step = isqrt(jobs) + 1
    if (2 * step + 1) * (gpus + 1) > LARGEST_TABLE:
        raise Unsupported(f"a table of {jobs:,} jobs by {gpus:,} GPUs is too large")
    return step


def filled_table(costs: Floats, gpus: int, budget: Budget, first: Floats | None = None) -> Floats | None:
    """Return the minimum costs of the first 0, 1, ... jobs by number of GPUs used, or None if time runs out.

    `first` holds the costs of jobs that precede these, by number of GPUs used; by default, there are none.
    """
    table = np.full((len(costs) + 1, gpus + 1), np.inf)
    table[0, 0] = 0.0
    if first is not None:
        table[0] = first
    counts = costs.shape[1]
    together = max(_CHUNK // (counts * (gpus + 1)), 1)
    width = counts if budget.time_limit is None else max(_CHUNK // (gpus + 1), 1)
    for begin in range(0, len(costs), together):
        end = min(begin + together, len(costs))
        for least in range(0, counts, width) if together == 1 else (0,):
            if budget.passed:
                return None
            if width >= counts:
                add_jobs(costs[begin:end], table[begin : end + 1])
            elif least <= gpus:
                part = np.full((2, gpus + 1 - least), np.inf)
                part[0] = table[begin, : gpus + 1 - least]
                add_jobs(costs[begin:end, least : least + width], part)
                np.minimum(table[end, least:], part[1], out=table[end, least:])
    return table
