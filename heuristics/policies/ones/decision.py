"""Decision: the problem `batching` at an event of a simulation, as arrays or as an instance."""

from math import inf
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.method import run as run_method
from gsopt.performance.batching import BatchingJob
from gsopt.performance.batching.split import split
from gsopt.performance.batching.throughput import Rate, Tabulated
from gsopt.problems.batching import Batching
from heuristics.policies.ones.dividing import Counts, Division, Floats, Forced, forced_jobs

#: The objective; and what limits a job's GPUs: convergence, or only the batch size.
Criterion = Literal["sruf", "rate", "sum_time"]
Caps = Literal["convergence", "batch"]


class BatchingDecision:
    """The problem `batching` at an event, with parameters as in `heuristics.policies.ones.exact_batching`."""

    def __init__(self, criterion: Criterion, forced: Forced, caps: Caps, reconfiguration: float) -> None:
        self._criterion, self._forced, self._caps = criterion, forced, caps
        self._reconfiguration = reconfiguration

    def by_arrays(self, division: Division) -> Counts:
        """Solve the problem by dynamic programming on arrays, and return the GPUs of each job."""
        speeds = self._speeds(division)
        costs = self._costs(division, speeds)
        return split(costs, division.gpus, must=forced_jobs(division, speeds, division.left, self._forced))

    def by_method(self, division: Division, method: Any) -> list[int]:
        """Solve the problem with a method of the decision `batching`, and return the GPUs of each job.

        Raises
        ------
        InvalidInput
            The method finds no solution.
        """
        problem = self.problem(division)
        solution = run_method(method, problem).solution
        if solution is None:
            raise InvalidInput("solver", shorten(method), "must find a solution at every event")
        names = [job.name for job in problem.jobs]
        return [solution.running[name].gpus if name in solution.running else 0 for name in names]

    def problem(self, division: Division) -> Batching:
        """Return the problem as an instance of `batching`."""
        speeds = self._speeds(division)
        jobs = [_batching_job(division, place, speeds[place]) for place in range(len(division.jobs))]
        return Batching(
            gpus=division.gpus,
            jobs=[job for job in jobs if job is not None],
            criterion=self._criterion,
            forced=self._forced,
            caps="batch",
            reconfiguration=self._reconfiguration,
        )

    def _speeds(self, division: Division) -> Floats:
        if self._caps == "batch":
            return division.speeds
        return division.capped(ways.cap for ways in division.ways)

    def _costs(self, division: Division, speeds: Floats) -> Floats:
        """Return the cost of each job on every number of GPUs, infinite where it may not run."""
        may, counts = speeds > 0, np.arange(speeds.shape[1])
        time = division.left[:, None] / np.where(may, speeds, 1.0)
        counted = {"rate": -1 / time, "sruf": time * counts, "sum_time": time}[self._criterion]
        costs = np.where(may, counted, inf)
        costs[:, 0] = 0.0
        if self._reconfiguration:
            costs += self._reconfiguration * _changes(division, costs.shape[1])
        return costs


def _changes(division: Division, width: int) -> NDArray[np.bool_]:
    """Return whether each job, on each number of GPUs, would have other GPUs or another batch size."""
    changes: NDArray[np.bool_] = np.arange(width)[None, :] != division.held[:, None]
    for place, (ways, held) in enumerate(zip(division.ways, division.held, strict=True)):
        if 0 < held < width and ways.batches[held] != division.batches[place]:
            changes[place, held] = True
    return changes


def _batching_job(division: Division, place: int, speeds: Floats) -> BatchingJob | None:
    """Return a job of the instance; throughput is in samples (in the default mode) or else units of work."""
    job, ways = division.jobs[place], division.ways[place]
    unit = (job.samples_in() or job.duration) / job.duration
    counts = [int(count) for count in np.flatnonzero(speeds)]
    batches = {count: max(ways.batches[count], count) for count in counts}
    held = int(division.held[place])
    return BatchingJob(
        name=str(division.numbers[place]),
        batch_limit=max(batches.values(), default=1),
        local_limit=max(batches.values(), default=1),
        throughput=Tabulated(
            rates=[
                Rate(batch_size=batches[count], gpus=count, samples_per_second=float(speeds[count]) * unit)
                for count in counts
            ]
        ),
        remaining=float(division.left[place]) * unit,
        new=not division.started[place],
        previous_gpus=held,
        previous_batch=max(int(division.batches[place]), held) if held else None,
    )
