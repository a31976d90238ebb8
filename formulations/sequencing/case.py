"""Case: a sequencing problem as matrices, with times in double precision and costs in integers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gsopt.core.numbers.assignment import positions, sequence
from gsopt.core.numbers.grid import Exact, decimal, exact_total
from gsopt.problems.sequencing import Sequences, Sequencing

#: Upper limit below which the sum of two integers fits into 64 bits.
_SMALL = 2**61


@dataclass(frozen=True)
class SequencingCase:
    """A problem as matrices of jobs and machines, or of jobs and positions."""

    problem: Sequencing

    @cached_property
    def seconds(self) -> NDArray[np.float64]:
        """The jobs' times on the machines in seconds, shape (jobs, machines); infinity if a job cannot run."""
        kinds = [machine.gpu_type for machine in self.problem.machines]
        rows = [[job.seconds.get(kind, np.inf) for kind in kinds] for job in self.problem.jobs]
        return np.array(rows, dtype=float).reshape(len(rows), len(kinds))

    @cached_property
    def available(self) -> NDArray[np.float64]:
        """The seconds until each machine becomes free, shape (machines,)."""
        return np.array([machine.available for machine in self.problem.machines])

    @cached_property
    def units(self) -> int:
        """The number of integer units per second: the common denominator of all times."""
        finite = (each for row in self.seconds.tolist() for each in row if each != np.inf)
        exact = {decimal(each) for each in (*finite, *self.available.tolist())}
        return lcm(*(each.denominator for each in exact))

    @property
    def bound(self) -> Exact:
        """A lower bound: the total completion time if every job came first on its best machine."""
        ends = {
            kind: min(machine.available for machine in self.problem.machines if machine.gpu_type == kind)
            for kind in {machine.gpu_type for machine in self.problem.machines}
        }
        return exact_total(
            min(exact_total((ends[kind], each)) for kind, each in job.seconds.items() if kind in ends)
            for job in self.problem.jobs
        )

    def costs(self, depth: int, total: Exact) -> NDArray[Any]:
        """Return the cost of each job at each position, for `depth` positions per machine, in integer units.

        `total` is the total completion time of a known solution, in seconds. Costs are capped just above it,
        because a position that costs more is not used in any better solution. The cap is also the cost on
        machines where a job cannot run.
        """
        most = int(total * self.units) + 1
        kind: type[Any] = np.int64 if most * (depth + 1) < _SMALL else object
        own: NDArray[Any] = np.full(self.seconds.shape, most, dtype=kind)
        for job, machine in zip(*np.nonzero(np.isfinite(self.seconds)), strict=True):
            own[job, machine] = min(self._whole(self.seconds[job, machine]), most)
        offset: NDArray[Any] = np.array([min(self._whole(each), most) for each in self.available], dtype=kind)
        costs: NDArray[Any] = np.minimum(positions(own, offset, depth), most)
        return costs

    def _whole(self, seconds: float) -> int:
        return int(decimal(float(seconds)) * self.units)

    def ordered(self) -> Sequences:
        """Return the orders that minimize the total completion time in double precision."""
        return self.solution(sequence(self.seconds, self.available) if self.problem.jobs else [])

    def greedy(self) -> Sequences:
        """Assign each job, shortest first, to the machine on which it completes earliest."""
        ends = self.available.copy()
        orders: list[list[int]] = [[] for _ in ends]
        for job in np.argsort(self.seconds.min(axis=1, initial=np.inf), kind="stable").tolist():
            machine = int(np.argmin(ends + self.seconds[job]))
            ends[machine] += self.seconds[job, machine]
            orders[machine].append(job)
        return self.solution(orders)

    def columns(self, solution: Sequences) -> list[tuple[int, int]]:
        """Return, for each job in a solution, its index and the index of the column for its position."""
        place = {job.name: index for index, job in enumerate(self.problem.jobs)}
        count = len(self.problem.machines)
        return [
            (place[name], index * count + number)
            for number, machine in enumerate(self.problem.machines)
            for index, name in enumerate(reversed(solution.order.get(machine.name, ())))
        ]

    def solution(self, orders: Sequence[Sequence[int]]) -> Sequences:
        """Convert the order of jobs on each machine to a solution."""
        names = [job.name for job in self.problem.jobs]
        machines = zip(self.problem.machines, orders, strict=False)
        return Sequences(
            order={machine.name: [names[job] for job in jobs] for machine, jobs in machines if jobs}
        )


def depth_of(solution: Sequences, jobs: int) -> int:
    """Return one more than the length of the longest order in a solution, but at most the number of jobs.

    If the solution is best within this number of positions per machine, it is best overall. Either there are as
    many positions as jobs, or it leaves a position empty on every machine, and positions beyond that one would
    cost every job more.
    """
    return min(jobs, max((len(each) for each in solution.order.values()), default=0) + 1)
