"""The evolutionary search of ONES as a heuristic: one problem, from random candidates."""

from typing import Annotated

import numpy as np
from pydantic import Field, ValidationError

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import InvalidInput, TimeUp, Unsupported, shorten
from gsopt.core.files import first_error
from gsopt.core.method import heuristic
from gsopt.performance.batching.split import split
from gsopt.problems.batching import Batches, Batching
from heuristics.batching.evolution.genome import IDLE
from heuristics.batching.evolution.offers import Offers
from heuristics.batching.evolution.population import Population, initial
from heuristics.batching.evolution.rows import Genomes
from heuristics.batching.evolution.search import Engine, Evolved, evolve
from heuristics.batching.evolution.settings import FillDraws, PackOrder, Preempts, Selection, Settings
from heuristics.batching.evolution.table import CostTable

#: Genes of all candidates, one for each GPU of each, that are still tried: several copies are held at a time.
_MOST_GENES = 50_000_000

#: Genes that a generation goes through in a second, on a machine that is not of the fastest.
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
    """Evolve candidates that run a job on every GPU, by refresh, crossover, mutation and reorder.

    Source: ONES (SC 2021), section 3.2.2 and Algorithm 1.

    Complexity: O(K (n + J log J)) per generation for K candidates, J jobs and n GPUs. The optimum takes
    `gsopt.performance.batching.split.split` about as long as one generation on 16 GPUs, and less on more of
    them.

    Parameters
    ----------
    problem
        The problem.
    generations
        Number of generations.
    seed
        Seed of everything that is drawn.
    engine
        Who runs the generations: numpy on all candidates at once, the same with compiled loops, or DEAP on one
        after the other; see `heuristics.batching.evolution.evolve`.
    population, mutation_rate, preempts, selection, fill_draws, pack, distinct
        See `heuristics.batching.evolution.Settings`.
    draws
        Whether what is left of jobs is drawn anew for every generation where its distribution is known, as in
        Algorithm 1; the estimate of the problem stands for it otherwise. `selection` and `fill_draws` make a
        difference only then.
    budget
        When no further generation begins, so that the result depends on the machine.

    Raises
    ------
    InvalidInput
        An option is out of its range.
    Unsupported
        The candidates have more genes than memory holds.
    TimeUp
        They have more than a generation could go through in time; a method then says that it has no solution.

    Notes
    -----
    Whatever is drawn, the judge scores the result by the problem's estimate.

    Departures from the paper, which `heuristics.batching.evolution.Settings` complements:

    - The score is the criterion of the problem, Equation 8 being that of `sruf`, and the least one is best:
      "highest score" in the text contradicts line 7 of Algorithm 1.
    - A genome holds jobs, not local batches (Equation 1): the fastest batch on its GPUs belongs to a job.
    - The paper fills idle GPUs after the refresh only. Here children and mutants are trimmed to the caps of
      their jobs and filled in the same way, or they would use fewer GPUs than Equation 4 demands.
    - Jobs that the problem forces to run are treated as new ones, in children and mutants too. As how long jobs
      have run is not known here, GPUs for them are taken from the jobs listed first.
    - Parents are the refreshed candidates, two different ones of them for each pair. Mutants are drawn with
      replacement.
    - Where jobs run already the first candidate is what runs; where menus have gaps there is one that uses as
      many GPUs as can be.

    Without `draws` all candidates are soon the same division of the GPUs, after some 15 generations on 16 GPUs
    and some 30 on 64. Then crossover has nothing to combine, and with r running jobs there are but 2^r mutants,
    as a refill does the same for the same preempted jobs. It ranks jobs by their costs at their caps, also
    where fewer GPUs are left, so that a better division can be out of its reach: further generations do not
    help. Over ten seeds the optimum is hit in ten searches on 16 GPUs and in nine on 64; on 256 GPUs the median
    gap stays at 10 %, and at 4 % with a mutation rate of 0.3. With `draws` the expected cost of the result is
    above the least one by 0, 2 and 14 % in the median, where one exact division by the means has no gap
    (`tests/benchmarks/bench_evolution.py`).

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
    if generations < 0:
        raise InvalidInput("", "generations", shorten(generations), "must be at least 0")
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
    _refuse_many(settings.population or max(problem.gpus, 1), problem.gpus, budget)
    offers = Offers.of(problem, is_drawn=draws)
    found = search(problem, offers.table, generations, settings, engine, seed, budget)
    return offers.solution(found.gpus_of(offers.table))


def search(
    problem: Batching,
    table: CostTable,
    generations: int,
    settings: Settings,
    engine: Engine,
    seed: int,
    budget: Budget,
) -> Evolved:
    """Evolve from candidates of which the first are given, and the others random."""
    generator = np.random.default_rng(seed)
    size = settings.population or max(table.gpus, 1)
    _refuse_many(size, table.gpus, budget)
    given = _given(problem, table)
    random = initial(table, max(size - len(given), 0), generator).genomes
    first = Population(table.names, table.batch_limit, np.concatenate([given, random]))
    return evolve(
        table,
        generations,
        settings=settings,
        engine=engine,
        population=first,
        generator=generator,
        budget=budget,
    )


def _refuse_many(candidates: int, gpus: int, budget: Budget) -> None:
    """Refuse more genes than memory holds, or than a generation could go through in time."""
    if candidates * gpus > _MOST_GENES:
        raise Unsupported(f"{candidates:,} candidates of {gpus:,} GPUs are too many")
    left = budget.left()
    if left is not None and candidates * gpus > left * _GENES_PER_SECOND:
        raise TimeUp(f"{candidates:,} candidates of {gpus:,} GPUs take longer than {left:.3g} s")


def _given(problem: Batching, table: CostTable) -> Genomes:
    """Return a candidate that uses enough GPUs, where a search might find none, and the one that runs."""
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
