"""Search: ONES' evolutionary search from one population to the next."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from gsopt.core.budget import Budget, rounds
from gsopt.core.errors import require_one_of
from heuristics.batching.evolution import rows, vectorised
from heuristics.batching.evolution.population import Population, initial, refresh
from heuristics.batching.evolution.progress import SearchProgress
from heuristics.batching.evolution.rows import Genomes
from heuristics.batching.evolution.settings import Settings
from heuristics.batching.evolution.table import CostTable

#: What runs the generations: numpy on all candidates at once, or DEAP on one candidate after another.
Engine = Literal["vectorised", "deap"]

_Run = Callable[[Genomes, CostTable, Iterable[int], Settings, np.random.Generator, SearchProgress], Genomes]


@dataclass(frozen=True, eq=False)
class Evolved:
    """The result of a search: the best candidate, and the population for the next search.

    Attributes
    ----------
    best
        For each GPU, the index in `CostTable.names` of its job in the best candidate; -1 for none.
    score
        The best candidate's cost when last scored; infinite if no candidate uses enough GPUs.
    population
        All candidates, for the next search.
    logbook
        One entry for the refreshed candidates, with number 0, and one for each generation: its number, the
        best, median and worst score, and the number of distinct scores.

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
        """Return the number of GPUs of each job that runs in the best candidate, keyed by job name."""
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
    """Refresh a population of candidates and evolve it (ONES, section 3.2.2).

    In each generation, K pairs of parents are drawn from the K candidates and have two children each, and K
    mutants are made. Children and mutants are repaired, and the K best of all old and new candidates survive. A
    policy calls this repeatedly with the previous population. With 0 generations, the candidates are only
    refreshed.

    Parameters
    ----------
    table
        The costs of the jobs.
    generations
        Number of generations.
    settings
        Interpretations of the paper, and parameters; defaults if None.
    engine
        numpy (`vectorised`) or DEAP (`deap`); their random numbers differ but have the same distribution.
    population
        The previous candidates; random ones if None.
    generator
        Source of all random numbers; a generator with seed 0 if None.
    budget
        No generation begins after the time limit.

    Raises
    ------
    InvalidInput
        The engine is unknown.

    Examples
    --------
    >>> costs = [[0, 4, 6, 9], [0, 3, np.inf, np.inf], [0, 5, 6, 7]]
    >>> table = CostTable.of(["a", "b", "c"], costs, weight=[2, 1, 1])
    >>> found = evolve(table, 10)
    >>> found.score, found.gpus_of(table)
    (7.0, {'c': 3})

    Job c has ended by the second search:

    >>> rest = CostTable.of(["a", "b"], costs[:2], weight=[2, 1])
    >>> evolve(rest, 10, population=found.population).gpus_of(rest)
    {'a': 2, 'b': 1}
    """
    run = _runner(engine)
    used = settings or Settings()
    random = np.random.default_rng(0) if generator is None else generator
    old = initial(table, used.population or max(table.gpus, 1), random) if population is None else population
    current = refresh(old, table, used, random)
    progress = SearchProgress(is_drawn=table.draw is not None)
    counts = rows.counts_of(current.genomes, table.jobs)
    scores = rows.scores(counts, table.drawn_cost(random), table.target)
    order = np.argsort(scores, kind="stable")
    current = replace(current, genomes=current.genomes[order])
    progress.record(current.genomes[0].tolist(), scores[order].tolist())
    genomes = run(current.genomes, table, rounds(generations, budget or Budget()), used, random, progress)
    return Evolved(list(progress.best), progress.score, replace(current, genomes=genomes), progress.logbook)


def _runner(engine: Engine) -> _Run:
    require_one_of("engine", engine, get_args(Engine))
    if engine == "deap":
        from heuristics.batching.evolution import toolbox

        return toolbox.run
    return vectorised.run
