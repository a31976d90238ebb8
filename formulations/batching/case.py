"""Case: the cost of every job on every number of GPUs, in floating point, and exactly on demand."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import TimeUp, Unsupported
from gsopt.core.numbers.grid import Exact, decimal
from gsopt.core.numbers.tolerances import BATCH_COST, TERM
from gsopt.core.problem import Sense
from gsopt.performance.batching import BatchingJob, StepTime
from gsopt.performance.batching.rates import StepTimeTable
from gsopt.problems.batching import Batches, Batching, Grant

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

#: Maximum number of cells (job, number of GPUs) in a table, and number of cells between two checks of the
#: clock.
LARGEST_TABLE, _CHUNK = 50_000_000, 500_000


@dataclass(frozen=True, eq=False)
class BatchingCase:
    """A problem as a table of costs to be minimized. Completions per second become negative costs.

    For each job and number of GPUs, only the best batch size matters. This is the fastest one or, if
    reconfigurations have a cost, possibly the current one.
    """

    problem: Batching
    # cost of each job on 0, 1, ... GPUs, shape (jobs, most GPUs of a job + 1); infinite where not allowed
    costs: Floats
    _exact: dict[tuple[int, int], tuple[Exact, Grant | None]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, problem: Batching, budget: Budget = UNLIMITED) -> "BatchingCase":
        """Compute the costs of a problem.

        Raises `TimeUp` if time runs out, and `Unsupported` if the table is too large.
        """
        widest = max((counts[-1] for counts in problem.counts if counts), default=0)
        cells = len(problem.jobs) * (widest + 1)
        if cells > LARGEST_TABLE:
            raise Unsupported(f"a table of {len(problem.jobs):,} jobs by {widest:,} GPUs is too large")
        rates = _rates(problem.jobs, widest, budget)
        costs = _valued(problem, rates)
        _charge(problem, costs)
        for place, counts in enumerate(problem.counts):
            allowed = np.zeros(widest + 1, dtype=np.bool_)
            allowed[list(counts) if not isinstance(counts, range) else slice(counts.start, counts.stop)] = True
            allowed[0] = problem.jobs[place].name not in problem.required
            costs[place, ~allowed] = np.inf
        return cls(problem, costs)

    @property
    def sign(self) -> int:
        """The sign of the objective: 1 if it is minimized, -1 if it is maximized."""
        return 1 if self.problem.sense is Sense.MINIMIZE else -1

    @property
    def gpus(self) -> int:
        """The number of GPUs to use: exactly this many if `use_all`, and otherwise at most this many."""
        return self.problem.target if self.use_all else self.problem.gpus

    @property
    def use_all(self) -> bool:
        """Whether exactly `gpus` GPUs must be used."""
        return self.problem.use == "all"

    @property
    def error(self) -> float:
        """A bound on the rounding error in the total cost of any choice."""
        largest = np.abs(np.where(self.costs < np.inf, self.costs, 0.0)).max(axis=1, initial=0.0)
        return float(largest.sum()) * (BATCH_COST + (len(largest) + 2) * TERM)

    def cost(self, place: int, gpus: int) -> Exact:
        """Return the exact cost of a job on the given number of GPUs."""
        return self._best(place, gpus)[0]

    def grant(self, place: int, gpus: int) -> Grant | None:
        """Return a job's best grant with the given number of GPUs, or None if the number is 0."""
        return self._best(place, gpus)[1]

    def solution(self, counts: Iterable[int]) -> Batches:
        """Convert the numbers of GPUs of all jobs, in job order, to a solution."""
        grants = ((job, self.grant(place, gpus)) for (place, job), gpus in self._with(counts))
        return Batches(running={job.name: grant for job, grant in grants if grant is not None})

    def counts(self, solution: Batches) -> list[int]:
        """Convert a solution to numbers of GPUs, in job order."""
        running = solution.running
        return [running[job.name].gpus if job.name in running else 0 for job in self.problem.jobs]

    def total(self, counts: Iterable[int]) -> float:
        """Return the total cost of the given numbers of GPUs, as a float."""
        chosen = np.fromiter(counts, np.int64, len(self.costs))
        return float(self.costs[np.arange(len(chosen)), chosen].sum())

    def _with(self, counts: Iterable[int]) -> Iterable[tuple[tuple[int, BatchingJob], int]]:
        return zip(enumerate(self.problem.jobs), (int(gpus) for gpus in counts), strict=True)

    def _best(self, place: int, gpus: int) -> tuple[Exact, Grant | None]:
        if (place, gpus) not in self._exact:
            self._exact[place, gpus] = self._computed(place, gpus)
        return self._exact[place, gpus]

    def _computed(self, place: int, gpus: int) -> tuple[Exact, Grant | None]:
        job = self.problem.jobs[place]
        extra = decimal(self.problem.reconfiguration)
        if not gpus:
            return (extra if job.changes(0, 0) else 0), None
        sizes = [size for size in (job.fastest(gpus), _kept(job, gpus)) if size is not None]
        found = [
            (
                self.sign * self.problem.worth(job, grant) + (extra if job.changes(size, gpus) else 0),
                grant,
            )
            for size, grant in ((size, Grant(gpus=gpus, batch_size=size)) for size in sizes)
        ]
        return min(found, key=lambda each: each[0])


def _kept(job: BatchingJob, gpus: int) -> int | None:
    """Return a job's current batch size if it may keep it on the given number of GPUs, and otherwise None."""
    size = job.previous_batch
    return size if gpus == job.previous_gpus and size is not None and job.allows(size, gpus) else None


def _rates(jobs: Iterable[BatchingJob], widest: int, budget: Budget) -> Floats:
    """Return the samples per second of each job's fastest batch size, by number of GPUs; 0 if there is none."""
    jobs = list(jobs)
    rates = np.zeros((len(jobs), widest + 1))
    modelled = [(place, job) for place, job in enumerate(jobs) if isinstance(job.throughput, StepTime)]
    together = max(_CHUNK // (widest + 1), 1)
    for first in range(0, len(modelled), together):
        if first and budget.passed:
            raise TimeUp("the time limit expired before the costs of jobs were known")
        part = modelled[first : first + together]
        times = StepTimeTable.of([job.throughput for _, job in part if isinstance(job.throughput, StepTime)])
        _, found = times.fastest(
            [job.batch_limit for _, job in part], [job.local_limit for _, job in part], widest=widest
        )
        rates[[place for place, _ in part]] = found
    for place, job in enumerate(jobs):
        if not isinstance(job.throughput, StepTime):
            for gpus in range(1, widest + 1):
                size = job.fastest(gpus)
                if size is not None:
                    rates[place, gpus] = float(job.throughput.samples_per_second(size, gpus))
    return rates


def _valued(problem: Batching, rates: Floats) -> Floats:
    """Return the jobs' costs without reconfigurations. A job without GPUs costs nothing."""
    left = np.array([float(job.left(problem.estimate)) for job in problem.jobs])
    costs = np.zeros_like(rates)
    gpus = np.arange(1, rates.shape[1])
    for place, job in enumerate(problem.jobs):
        costs[place, 1:] = _worth(problem, left[place], rates[place, 1:], gpus, job.weight)
    return costs


def _worth(
    problem: Batching, left: float, rate: Floats, gpus: NDArray[np.int64], weight: float
) -> NDArray[np.float64]:
    if problem.criterion == "rate":
        return -weight * rate / left
    time = np.divide(left, rate, out=np.full_like(rate, np.inf), where=rate > 0)  # no throughput, no end
    return time * gpus / weight if problem.criterion == "sruf" else time * weight


def _charge(problem: Batching, costs: Floats) -> None:
    """Add the costs of reconfigurations. A job that keeps its GPUs may also keep its batch size."""
    extra = problem.reconfiguration
    if not extra:
        return
    left = [float(job.left(problem.estimate)) for job in problem.jobs]
    for place, job in enumerate(problem.jobs):
        before = job.previous_gpus
        stays = costs[place, before] if before < costs.shape[1] else 0.0
        costs[place] += extra
        if before >= costs.shape[1]:
            continue
        size = _kept(job, before)
        if before == 0 or job.previous_batch is None or size == job.fastest(before):
            costs[place, before] = stays
        elif size is not None:
            rate = np.array([float(job.throughput.samples_per_second(size, before))])
            kept = _worth(problem, left[place], rate, np.array([before]), job.weight)[0]
            costs[place, before] = min(kept, costs[place, before])
