"""Table: what all jobs count on any GPUs, for many divisions at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gsopt.problems.goodput import Goodput, GoodputSolution

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Table:
    """Speed-ups as an array.

    Attributes
    ----------
    problem
        The problem.
    speedups
        By job, nodes and GPUs; -1 where a job does not run.
    current
        GPUs of each job on every node now, shape (jobs, nodes).
    """

    problem: Goodput
    speedups: Floats
    current: Counts

    @classmethod
    def of(cls, problem: Goodput) -> "Table":
        """Fill the table of a problem.

        Examples
        --------
        >>> from gsopt.problems.goodput import GoodputJob
        >>> job = GoodputJob(name="a", speedups=[[1.0, 1.5]], current=[1])
        >>> Table.of(Goodput(nodes=[2], jobs=[job])).speedups.tolist()
        [[[0.0, -1.0, -1.0], [-1.0, 1.0, 1.5]]]
        """
        jobs, nodes, gpus = len(problem.jobs), len(problem.nodes), problem.total
        speedups = np.full((jobs, nodes + 1, gpus + 1), -1.0)
        speedups[:, 0, 0] = 0.0
        for place, job in enumerate(problem.jobs):
            for used, row in enumerate(job.speedups[:nodes], start=1):
                end = min(used + len(row), gpus + 1, (job.max_gpus or gpus) + 1)
                speedups[place, used, used:end] = row[: max(end - used, 0)]
        current = np.array(problem.currents, dtype=np.int64).reshape(jobs, nodes)
        return cls(problem, speedups, current)

    def speedup(self, vectors: Counts) -> Floats:
        """Give the speed-ups of all jobs, by their GPUs on every node, shape (..., jobs, nodes)."""
        found: Floats = self.speedups[
            np.arange(len(self.speedups)), (vectors > 0).sum(axis=-1), vectors.sum(axis=-1)
        ]
        return found

    def counted(self, speedups: Floats, restarts: NDArray[np.bool_]) -> Floats:
        """Give what jobs count that have these speed-ups; jobs lie along the last axis."""
        problem = self.problem
        share = len(problem.nodes) / max(problem.total, 1)
        factors = np.where(restarts, np.array([float(factor) for factor in problem.factors]), 1.0)
        counted: Floats = (factors * speedups * share + problem.floor) ** problem.power
        return counted

    def solution(self, vectors: Counts) -> GoodputSolution:
        """Give GPUs of each job on every node as a solution."""
        named = zip(self.problem.jobs, vectors.tolist(), strict=True)
        return GoodputSolution(gpus={job.name: gpus for job, gpus in named if any(gpus)})
