"""Offers: a cost table for a batching problem, and each job's batch size on each number of GPUs."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gsopt.core.numbers.tolerances import LEAST_PROGRESS
from gsopt.core.problem import Sense
from gsopt.performance.batching import BatchingJob
from gsopt.problems.batching import Batches, Batching, Grant
from heuristics.batching.evolution.table import CostTable, Draw, Floats


@dataclass(frozen=True, eq=False)
class GpuOffers:
    """The numbers of GPUs that jobs may have, with costs and batch sizes.

    Attributes
    ----------
    table
        The costs to be minimized. If completions per second are maximized, they count as negative costs.
    batch_sizes
        For each job, in order, its batch sizes, keyed by number of GPUs.
    """

    table: CostTable
    batch_sizes: tuple[Mapping[int, int], ...]

    @classmethod
    def of(cls, problem: Batching, *, is_drawn: bool = False) -> "GpuOffers":
        """Compute the costs and batch sizes of a problem's jobs.

        With `is_drawn`, uncertain numbers of remaining samples are drawn anew in every generation.
        """
        sizes = tuple(_batch_sizes(problem, place) for place in range(len(problem.jobs)))
        unit = np.full((len(problem.jobs), problem.gpus + 1), np.inf)
        unit[:, 0] = 0.0
        extra = np.zeros_like(unit)
        for place, job in enumerate(problem.jobs):
            extra[place, 0] = _extra(problem, job, 0, 0)
            for gpus, size in sizes[place].items():
                unit[place, gpus] = _unit_cost(problem, job, gpus, size)
                extra[place, gpus] = _extra(problem, job, gpus, size)
        table = CostTable.of(
            [job.name for job in problem.jobs],
            unit,
            weight=_weight(problem, np.array([float(job.left(problem.estimate)) for job in problem.jobs])),
            extra_cost=extra,
            forced=[job.name in problem.required for job in problem.jobs],
            batch_limit=[job.batch_limit for job in problem.jobs],
            local_limit=[job.local_limit for job in problem.jobs],
            target=problem.target,
            draw=_drawer(problem) if is_drawn else None,
        )
        return cls(table, sizes)

    def solution(self, gpus: Mapping[str, int]) -> Batches:
        """Return the solution in which the jobs in `gpus` run on these numbers of GPUs, and no others run."""
        sizes = dict(zip(self.table.names, self.batch_sizes, strict=True))
        return Batches(
            running={name: Grant(gpus=count, batch_size=sizes[name][count]) for name, count in gpus.items()}
        )


def _batch_sizes(problem: Batching, place: int) -> dict[int, int]:
    """Return a job's fastest batch size on each number of GPUs, or its current one if a change costs more."""
    job = problem.jobs[place]
    found = {gpus: size for gpus in problem.counts[place] if (size := job.fastest(gpus)) is not None}
    gpus, before = job.previous_gpus, job.previous_batch
    if problem.reconfiguration and gpus in found and before is not None and job.allows(before, gpus):
        left = float(_weight(problem, np.array([float(job.left(problem.estimate))]))[0])
        gain = left * (_unit_cost(problem, job, gpus, before) - _unit_cost(problem, job, gpus, found[gpus]))
        if gain < problem.reconfiguration:
            found[gpus] = before
    return found


def _unit_cost(problem: Batching, job: BatchingJob, gpus: int, batch_size: int) -> float:
    """Return a job's cost on `gpus` GPUs per unit of its weight (see `_weight`)."""
    rate = float(job.throughput.samples_per_second(batch_size, gpus))
    if problem.criterion == "rate":
        return -job.weight * rate
    return gpus / rate / job.weight if problem.criterion == "sruf" else job.weight / rate


def _weight(problem: Batching, left: Floats) -> Floats:
    return 1 / left if problem.sense is Sense.MAXIMIZE else left


def _extra(problem: Batching, job: BatchingJob, gpus: int, batch_size: int) -> float:
    return problem.reconfiguration if job.changes(batch_size, gpus) else 0.0


def _drawer(problem: Batching) -> Draw | None:
    """Return a function that draws the weights of all jobs (Equation 7), or None if all work is known."""
    believed = [(place, job.progress) for place, job in enumerate(problem.jobs) if job.progress is not None]
    if not believed:
        return None
    places = np.array([place for place, _ in believed])
    alpha, beta, processed = np.array([(each.alpha, each.beta, each.processed) for _, each in believed]).T
    known = np.array([float(job.remaining or 0) for job in problem.jobs])

    def draw(generator: np.random.Generator) -> Floats:
        progress = generator.beta(alpha, beta).clip(LEAST_PROGRESS, 1 - LEAST_PROGRESS)
        left = known.copy()
        left[places] = processed * (1 / progress - 1)
        return _weight(problem, left)

    return draw
