"""Case: the options of each job, and their costs in double precision."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gsopt.core.numbers.tolerances import GOODPUT_COST, TERM
from gsopt.problems.goodput import Goodput, GoodputSolution

Floats = NDArray[np.float64]

#: The number of GPUs that a job has on each node.
Vector = tuple[int, ...]


class GoodputOption(NamedTuple):
    """An option of a job: a number of GPUs, and a range of numbers of nodes on which they may be."""

    gpus: int  # its GPUs
    # least, most: the numbers of nodes on which they may be; all numbers in this range cost the same
    least: int
    most: int
    cost: float  # cost of the job, in double precision
    keeps: bool = False  # whether these are the GPUs that it has now, on the same nodes

    @property
    def is_wide(self) -> bool:
        """Whether the job runs on several nodes."""
        return self.least > 1

    @property
    def is_single(self) -> bool:
        """Whether the job runs on a single node that is still to be chosen."""
        return self.least == 1 and not self.keeps

    @property
    def is_spread(self) -> bool:
        """Whether the job runs on several nodes that are still to be chosen."""
        return self.is_wide and not self.keeps


@dataclass(frozen=True, eq=False)
class GoodputCase:
    """A problem as a list of options for each job."""

    problem: Goodput
    # options of each job: no GPUs, then its current GPUs, then all others that cost less than no GPUs and
    # less than fewer GPUs on as many nodes
    options: tuple[tuple[GoodputOption, ...], ...]

    @classmethod
    def of(cls, problem: Goodput) -> "GoodputCase":
        """List each job's options, except those that are never worth choosing."""
        widest = np.cumsum(sorted(problem.nodes, reverse=True))
        return cls(problem, tuple(tuple(_options(problem, job, widest)) for job in range(len(problem.jobs))))

    @property
    def error(self) -> float:
        """A bound on the relative error of a total cost, which holds because costs are never negative."""
        return GOODPUT_COST * -self.problem.power + (len(self.options) + 2) * TERM

    def solution(self, vectors: Iterable[Vector]) -> GoodputSolution:
        """Convert GPU counts by job and node to a solution."""
        named = zip(self.problem.jobs, vectors, strict=True)
        return GoodputSolution(gpus={job.name: gpus for job, gpus in named if any(gpus)})


def _options(problem: Goodput, place: int, widest: NDArray[np.int64]) -> Iterable[GoodputOption]:
    """List the options of a job. `widest` holds the maximum number of GPUs on 1, 2, ... nodes."""
    job, current = problem.jobs[place], problem.currents[place]
    held, used = sum(current), sum(count > 0 for count in current)
    share = Fraction(len(problem.nodes), max(problem.total, 1))
    speedup = job.speedup(used, held) or 0.0
    idle, kept = _counted(problem, np.array([0.0, speedup * float(share)])).tolist()
    yield GoodputOption(0, 0, 0, idle)
    if held and speedup:
        yield GoodputOption(held, used, used, kept, keeps=True)
    speedups = _grown(_table(job.speedups, widest, job.max_gpus))
    costs = _counted(problem, float(problem.factors[place] * share) * speedups)
    most = _last_equal(speedups)
    for gpus, nodes in np.argwhere(((speedups > 0) & (costs < idle)).T).tolist():
        first = nodes <= 1 or most[nodes - 1, gpus] < nodes + 1
        if first:
            yield GoodputOption(gpus + 1, nodes + 1, int(most[nodes, gpus]), float(costs[nodes, gpus]))


def _counted(problem: Goodput, scaled: Floats) -> Floats:
    """Compute the costs of jobs from their speed-ups relative to their fair shares."""
    counted: Floats = (scaled + problem.floor) ** problem.power
    return counted


def _table(rows: Sequence[Sequence[float]], widest: NDArray[np.int64], cap: int | None) -> Floats:
    """Return the speed-ups by numbers of nodes and GPUs (each minus one), with -1 where a job cannot run."""
    rows = rows[: len(widest)]
    ends = [
        min(nodes + len(row), int(widest[nodes]), widest[-1] if cap is None else cap)
        for nodes, row in enumerate(rows)
    ]
    table = np.full((len(rows), max(ends, default=0)), -1.0)
    for nodes, (row, end) in enumerate(zip(rows, ends, strict=True)):
        table[nodes, nodes:end] = row[: max(end - nodes, 0)]
    return table


def _grown(table: Floats) -> Floats:
    """Set entries to 0 if fewer GPUs on the same number of nodes are at least as fast.

    Such an option is not needed, because the fewer GPUs fit wherever more GPUs do.
    """
    before = np.maximum.accumulate(table, axis=1)[:, :-1]
    dropped = np.zeros(table.shape, dtype=np.bool_)
    dropped[:, 1:] = table[:, 1:] <= before
    return np.where(dropped | (table <= 0), 0.0, table)


def _last_equal(table: Floats) -> NDArray[np.int64]:
    """Return, for each entry, the largest number of nodes up to which its speed-up stays the same.

    A single node is never merged with several ones.
    """
    most = np.repeat(np.arange(1, len(table) + 1)[:, None], table.shape[1], axis=1)
    for nodes in range(len(table) - 2, 0, -1):
        same = (table[nodes] == table[nodes + 1]) & (table[nodes] > 0)
        most[nodes, same] = most[nodes + 1, same]
    return most
