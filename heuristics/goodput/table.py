"""Table: the jobs' speed-ups on each number of nodes and GPUs, and their terms in the objective."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gsopt.problems.goodput import Goodput, GoodputSolution

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SpeedupTable:
    """The speed-ups of all jobs as an array, and the terms of the objective that follow from them.

    Attributes
    ----------
    problem
        The problem.
    speedups
        Speed-up by job, number of nodes and number of GPUs; -1 where a job cannot run. The last entries on the
        axes of nodes and GPUs stand for all larger numbers, on which no job can run.
    current
        Current GPUs of each job on every node, shape (jobs, nodes).
    """

    problem: Goodput
    speedups: Floats
    current: Counts

    @classmethod
    def of(cls, problem: Goodput) -> "SpeedupTable":
        """Return the table of a problem."""
        jobs, nodes, gpus = len(problem.jobs), len(problem.nodes), problem.total
        known = [
            (place, used, row[: max(min(job.max_gpus or gpus, gpus) + 1 - used, 0)])
            for place, job in enumerate(problem.jobs)
            for used, row in enumerate(job.speedups[:nodes], start=1)
        ]
        most_nodes = max((used for _, used, row in known if row), default=0)
        most_gpus = max((used + len(row) - 1 for _, used, row in known if row), default=0)
        speedups = np.full((jobs, most_nodes + 2, most_gpus + 2), -1.0)
        speedups[:, 0, 0] = 0.0
        for place, used, row in known:
            if row:
                speedups[place, used, used : used + len(row)] = row
        current = np.array(problem.currents, dtype=np.int64).reshape(jobs, nodes)
        return cls(problem, speedups, current)

    def speedup(self, vectors: Counts) -> Floats:
        """Return the speed-ups of all jobs for their GPUs on every node, shape (..., jobs, nodes)."""
        return self.at(np.arange(len(self.speedups)), (vectors > 0).sum(axis=-1), vectors.sum(axis=-1))

    def at(self, jobs: Counts | int, nodes: Counts, gpus: Counts) -> Floats:
        """Return the speed-ups of jobs on given numbers of nodes and GPUs; arrays are broadcast together."""
        _, *most = self.speedups.shape
        found: Floats = self.speedups[jobs, np.minimum(nodes, most[0] - 1), np.minimum(gpus, most[1] - 1)]
        return found

    @cached_property
    def factors(self) -> Floats:
        """Factor by which a restart multiplies each job's speed-up."""
        return np.array([float(factor) for factor in self.problem.factors])

    def counted(
        self, speedups: Floats, restarts: NDArray[np.bool_], factors: Floats | float | None = None
    ) -> Floats:
        """Return the objective's terms for jobs with given speed-ups.

        The speed-up of a job that restarts is multiplied by `factors`, by default those of the problem. In that
        case, the last axis of both arrays must have one entry per job.
        """
        problem = self.problem
        share = len(problem.nodes) / max(problem.total, 1)
        slowed = np.where(restarts, self.factors if factors is None else factors, 1.0)
        counted: Floats = (slowed * speedups * share + problem.floor) ** problem.power
        return counted

    def solution(self, vectors: Counts) -> GoodputSolution:
        """Return the solution with the given numbers of GPUs, an array of shape (jobs, nodes)."""
        named = zip(self.problem.jobs, vectors.tolist(), strict=True)
        return GoodputSolution(gpus={job.name: gpus for job, gpus in named if any(gpus)})
