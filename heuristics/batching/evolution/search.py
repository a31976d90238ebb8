"""Search: candidates in, generations of either engine, candidates out."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from gsopt.core.budget import Budget, rounds
from gsopt.core.errors import require_one_of
from heuristics.batching.evolution import rows, vectorised
from heuristics.batching.evolution.population import Population, initial, refresh, with_genomes
from heuristics.batching.evolution.progress import SearchProgress
from heuristics.batching.evolution.rows import Genomes
from heuristics.batching.evolution.settings import Settings
from heuristics.batching.evolution.table import CostTable

#: Who runs the generations: numpy on all candidates at once, the same with repairs as compiled loops, or DEAP
#: on one candidate after the other.
Engine = Literal["vectorised", "compiled", "deap"]

_Run = Callable[[Genomes, CostTable, Iterable[int], Settings, np.random.Generator, SearchProgress], Genomes]


@dataclass(frozen=True, eq=False)
class Evolved:
    """What a search ends with.

    Attributes
    ----------
    best
        The job of each GPU in the best candidate, -1 for none.
    score
        What it costs, as it was scored last; infinite where no candidate uses as many GPUs as it must.
    population
        All candidates, the best first, for the next search.
    logbook
        For each generation its number, best, median and worst score, and how many scores are distinct.

    Examples
    --------
    >>> table = CostTable.of(["a", "b"], [[0, 4, 6], [0, 1, np.inf]], weight=[2, 1])
    >>> evolve(table, 5).gpus_of(table)
    {'a': 1, 'b': 1}
    """

    best: list[int]
    score: float
    population: Population
    logbook: Any

    def gpus_of(self, table: CostTable) -> dict[str, int]:
        """Return the GPUs of each job that runs, by name."""
        counts = {name: self.best.count(number) for number, name in enumerate(table.names)}
        return {name: count for name, count in counts.items() if count}


def evolve(
    table: CostTable,
    generations: int,
    *,
    settings: Settings | None = None,
    engine: Engine = "vectorised",
    population: Population | None = None,
    generator: np.random.Generator | None = None,
    budget: Budget | None = None,
) -> Evolved:
    """Refresh candidates and evolve them (ONES, section 3.2.2).

    Each generation adds to K candidates two children of each of K pairs and K mutants, repairs these, and keeps
    the K best. A policy calls this again and again with the candidates of last time, also for no generation at
    all, which refreshes them.

    Parameters
    ----------
    table
        What is known of the jobs.
    generations
        Number of generations.
    settings
        Readings and parameters; the defaults when None.
    engine
        Who runs the generations: numpy (`vectorised`), the same with loops that numba compiles (`compiled`),
        which end with the same candidates, or DEAP (`deap`), which draws other numbers from the same
        distribution. Compiling takes seconds once, and loading what is compiled half a second in each process;
        from then on a generation takes a third of the time or less.
    population
        Candidates of last time; random ones when None.
    generator
        Draws everything; one with seed 0 when None.
    budget
        No generation begins once it has passed.

    Returns
    -------
    Evolved
        The best candidate and all the others.

    Raises
    ------
    InvalidInput
        There is no such engine.

    Examples
    --------
    >>> costs = [[0, 4, 6, 9], [0, 3, np.inf, np.inf], [0, 5, 6, 7]]
    >>> table = CostTable.of(["a", "b", "c"], costs, weight=[2, 1, 1])
    >>> found = evolve(table, 10)
    >>> found.score, found.gpus_of(table)
    (7.0, {'c': 3})

    Job c has ended when the search goes on:

    >>> rest = CostTable.of(["a", "b"], costs[:2], weight=[2, 1])
    >>> evolve(rest, 10, population=found.population).gpus_of(rest)
    {'a': 2, 'b': 1}
    """
    run = _engine(engine)
    used = settings or Settings()
    random = np.random.default_rng(0) if generator is None else generator
    old = initial(table, used.population or max(table.gpus, 1), random) if population is None else population
    current = refresh(old, table, used, random)
    progress = SearchProgress(is_drawn=table.draw is not None)
    counts = rows.counts_of(current.genomes, table.jobs)
    scores = rows.scores(counts, table.drawn_cost(random), table.target)
    order = np.argsort(scores, kind="stable")
    current = with_genomes(current, current.genomes[order])
    progress.record(current.genomes[0].tolist(), scores[order].tolist())
    genomes = run(current.genomes, table, rounds(generations, budget or Budget()), used, random, progress)
    return Evolved(list(progress.best), progress.score, with_genomes(current, genomes), progress.logbook)


def _engine(name: Engine) -> _Run:
    require_one_of("engine", name, get_args(Engine))
    if name == "deap":
        from heuristics.batching.evolution import toolbox

        return toolbox.run
    return partial(vectorised.run, is_compiled=name == "compiled")
