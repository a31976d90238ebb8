"""Heuristic: ONES' evolutionary search, applied to a single problem."""

from typing import Annotated

import numpy as np
from pydantic import Field, ValidationError

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import TimeUp, Unsupported, require
from gsopt.core.files import first_error
from gsopt.core.method import heuristic
from gsopt.performance.batching.split import split
from gsopt.problems.batching import Batches, Batching
from heuristics.batching.evolution.genome import IDLE
from heuristics.batching.evolution.offers import GpuOffers
from heuristics.batching.evolution.population import Population, initial
from heuristics.batching.evolution.rows import Genomes
from heuristics.batching.evolution.search import Engine, evolve
from heuristics.batching.evolution.settings import FillDraws, PackOrder, Preempts, Selection, Settings
from heuristics.batching.evolution.table import CostTable

#: At most this many genes in a population, one per GPU and candidate: several copies are held at a time.
_MOST_GENES = 50_000_000

#: Genes that a generation processes per second on a slow computer.
_GENES_PER_SECOND = 500_000


@heuristic
def evolution(
    problem: Batching,
    *,
    generations: Annotated[int, Field(ge=0)] = 100,
    seed: int = 0,
    engine: Engine = "vectorised",
    population: int | None = None,
    mutation_rate: float = 0.1,
    preempts: Preempts = "jobs",
    draws: bool = False,
    selection: Selection = "one draw",
    fill_draws: FillDraws = "generation",
    pack: PackOrder = "first",
    distinct: bool = False,
    budget: Budget = UNLIMITED,
) -> Batches:
    """Evolve candidates, i.e. assignments of jobs to GPUs, by refresh, crossover, mutation and reordering.

    `gsopt.performance.batching.split.split` finds the optimum in about the time of one generation. With the
    default options, all candidates soon divide the GPUs in the same way, and further generations may not help.

    Source: ONES (SC 2021), section 3.2.2 and Algorithm 1.

    Complexity: O(K (n log n + J log J)) per generation with the default options, for K candidates, J jobs and n
    GPUs.

    Parameters
    ----------
    problem
        The problem.
    generations
        Number of generations.
    seed
        Seed of all random numbers.
    engine
        numpy on all candidates at once (`vectorised`), or DEAP on one candidate at a time (`deap`).
    population, mutation_rate, preempts, selection, fill_draws, pack, distinct
        See `heuristics.batching.evolution.Settings`.
    draws
        Whether the remaining work of jobs with a known distribution is drawn anew in every generation, as in
        Algorithm 1. Otherwise, the search uses the problem's estimate, by which the result is always scored.
    budget
        If there is a time limit, no generation begins after it, and the result depends on the machine.

    Raises
    ------
    InvalidInput
        An option is out of range.
    Unsupported
        The candidates do not fit in memory.
    TimeUp
        Even a single generation is expected to exceed the time limit.

    Notes
    -----
    Departures from the paper:

    - The score is the problem's criterion (`sruf` is Equation 8). The lowest score is best, as in line 7 of
      Algorithm 1; the text says "highest".
    - A candidate holds jobs, not local batches (Equation 1). A job has the fastest batch size on its GPUs, or
      its current one if a change would not pay off.
    - The paper fills idle GPUs only after the refresh. Here, children and mutants are filled, too, after their
      jobs have given up GPUs that they cannot use.
    - Jobs that must run get GPUs in every candidate, including children and mutants. In the paper, only the
      refresh does this, for new jobs. If no GPUs are idle, the jobs listed first give up theirs.
    - The parents of a pair are different candidates. Candidates to be mutated are drawn with replacement.
    - One initial candidate is the current allocation, if any. If allowed numbers of GPUs have gaps, another one
      uses as many GPUs as possible.

    Examples
    --------
    >>> from gsopt.performance.batching import BatchingJob, StepTime
    >>> model = StepTime(fixed=0.05, per_sample=0.001)
    >>> limits = {"batch_limit": 512, "local_limit": 256}
    >>> jobs = [
    ...     BatchingJob(name=name, throughput=model, remaining=left, **limits)
    ...     for name, left in [("a", 90_000), ("b", 60_000), ("c", 20_000)]
    ... ]
    >>> result = evolution(Batching(gpus=4, jobs=jobs, forced="none"), generations=10)
    >>> {name: grant.gpus for name, grant in result.solution.running.items()}
    {'b': 2, 'c': 2}
    """
    require(generations >= 0, "generations", generations, "must be at least 0")
    try:
        settings = Settings(
            population=population,
            mutation_rate=float(mutation_rate),
            preempts=preempts,
            selection=selection,
            fill_draws=fill_draws,
            pack=pack,
            distinct=distinct,
        )
    except ValidationError as error:
        raise first_error("", error) from None
    size = settings.population or max(problem.gpus, 1)
    _refuse_many(size, problem.gpus, budget)
    offers, generator = GpuOffers.of(problem, is_drawn=draws), np.random.default_rng(seed)
    _refuse_many(size, problem.gpus, budget)  # the offers took time, too
    table, given = offers.table, _given(problem, offers.table)
    random = initial(table, max(size - len(given), 0), generator).genomes
    first = Population(table.names, table.batch_limit, np.concatenate([given, random]))
    found = evolve(
        table,
        generations,
        settings=settings,
        engine=engine,
        population=first,
        generator=generator,
        budget=budget,
    )
    return offers.solution(found.gpus_of(table))


def _refuse_many(candidates: int, gpus: int, budget: Budget) -> None:
    """Raise an error if there are more genes than fit in memory or than a generation can process in time."""
    if candidates * gpus > _MOST_GENES:
        raise Unsupported(f"{candidates:,} candidates of {gpus:,} GPUs are too many")
    left = budget.left()
    if left is not None and candidates * gpus > left * _GENES_PER_SECOND:
        raise TimeUp(f"{candidates:,} candidates of {gpus:,} GPUs take longer than {left:.3g} s")


def _given(problem: Batching, table: CostTable) -> Genomes:
    """Return the current allocation, and a candidate that uses as many GPUs as possible if menus have gaps."""
    rows: list[list[int]] = []
    if (table.lower[:, 1:] < np.minimum(np.arange(1, table.gpus + 1), table.cap[:, None])).any():
        free = np.where(np.isfinite(table.unit_cost), 0.0, np.inf)
        rows.append(split(free, table.gpus, must=table.forced).tolist())
    before = [job.previous_gpus for job in problem.jobs]
    if 0 < sum(before) <= table.gpus:
        rows.append(before)
    genomes = [[job for job, count in enumerate(row) for _ in range(count)] for row in rows]
    padded = [genome + [IDLE] * (table.gpus - len(genome)) for genome in genomes]
    return np.array(padded, dtype=np.int64).reshape(len(rows), table.gpus)
