"""Toolbox: the generations of ONES' search on lists, run by operators in a DEAP toolbox.

DEAP's own operators draw from Python's global generator. These operators have their own generator, so that a
seed reproduces a run without affecting other random draws.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import attrgetter
from random import Random
from typing import Any

import numpy as np
from deap import base, tools

from heuristics.batching.evolution import genome as operators
from heuristics.batching.evolution.candidate import Candidate
from heuristics.batching.evolution.genome import Costs
from heuristics.batching.evolution.progress import SearchProgress
from heuristics.batching.evolution.rows import Genomes
from heuristics.batching.evolution.settings import PackOrder, Settings
from heuristics.batching.evolution.table import CostTable


def toolbox_of(table: CostTable, settings: Settings, generator: np.random.Generator) -> Any:
    """Build a toolbox with the operators of a search, such as `draw`, `mate`, `mutate` and `select`."""
    random = Random(int(generator.integers(2**63)))
    draw = _drawer(table, generator)
    toolbox: Any = base.Toolbox()
    toolbox.register("clone", Candidate.copied)
    toolbox.register("draw", draw)
    toolbox.register("parents", _parents, random=random)
    toolbox.register("chosen", lambda population: random.choices(population, k=len(population)))
    toolbox.register("mate", operators.crossover, random=random)
    toolbox.register(
        "mutate", operators.preempt, rate=settings.mutation_rate, random=random, what=settings.preempts
    )
    redraws = settings.fill_draws == "selection" and table.draw is not None
    toolbox.register("repair", _repairer(table, settings.pack, draw if redraws else None))
    toolbox.register("evaluate", partial(operators.score, target=table.target))
    if settings.selection == "thompson" and table.draw is not None:
        toolbox.register("select", partial(_by_thompson, evaluate=toolbox.evaluate, draw=draw))
    else:
        toolbox.register("select", _distinct_first if settings.distinct else tools.selBest)
    return toolbox


def _drawer(table: CostTable, generator: np.random.Generator) -> Callable[[], Costs]:
    if table.draw is None:
        known: Costs = table.used_cost.tolist()
        return lambda: known
    return lambda: table.drawn_cost(generator).tolist()


def _parents(population: Sequence[Candidate], random: Random) -> list[Candidate]:
    """Draw two different candidates, or the same one twice if there is only one."""
    return random.sample(population, 2) if len(population) > 1 else [population[0]] * 2


def _repairer(
    table: CostTable, pack: PackOrder, redraw: Callable[[], Costs] | None
) -> Callable[[Candidate, Costs], None]:
    lower, least, victims = table.lower.tolist(), table.least.tolist(), table.victims.tolist()
    is_forced = any(least)

    def repair(candidate: Candidate, costs: Costs) -> None:
        operators.trim(candidate, lower)
        if is_forced:
            operators.admit(candidate, least, victims)
            operators.trim(candidate, lower)
        operators.fill(candidate, lower, costs, redraw)
        operators.reorder(candidate, pack)

    return repair


def _distinct_first(pool: Sequence[Candidate], size: int) -> list[Candidate]:
    """Select the best candidates, and repeat a score only if there are not enough distinct ones."""
    ordered = sorted(pool, key=attrgetter("fitness"), reverse=True)
    first: dict[float, Candidate] = {}
    again = [each for each in ordered if first.setdefault(each.fitness.values[0], each) is not each]
    return [*first.values(), *again][:size]


def _by_thompson(
    pool: Sequence[Candidate],
    size: int,
    evaluate: Callable[[Candidate, Costs], float],
    draw: Callable[[], Costs],
) -> list[Candidate]:
    """Select each survivor by a run of Algorithm 1; the first run uses the current scores."""
    left = list(pool)
    scores = [each.fitness.values[0] for each in left]
    chosen: list[Candidate] = []
    for _ in range(size):
        best = scores.index(min(scores))
        chosen.append(left.pop(best))
        costs = draw()
        scores = [evaluate(each, costs) for each in left]
    return chosen


def run(
    genomes: Genomes,
    table: CostTable,
    generations: Iterable[int],
    settings: Settings,
    generator: np.random.Generator,
    progress: SearchProgress,
) -> Genomes:
    """Evolve candidates, shape (candidates, GPUs), record every generation, and return the last one."""
    toolbox = toolbox_of(table, settings, generator)
    population = [Candidate(each) for each in genomes.tolist()]
    for _ in generations:
        costs = toolbox.draw()
        made = _offspring(population, toolbox)
        for candidate in made:
            toolbox.repair(candidate, costs)
        pool = [*population, *made]
        for candidate in pool:
            candidate.fitness.values = (toolbox.evaluate(candidate, costs),)
        population = toolbox.select(pool, len(population))
        progress.record(population[0], [each.fitness.values[0] for each in population])
    return np.array(population, dtype=np.int64).reshape(genomes.shape)


def _offspring(population: Sequence[Candidate], toolbox: Any) -> list[Candidate]:
    """Return K pairs of children and K mutants for a population of K candidates (section 3.2.2)."""
    children: list[Candidate] = []
    for _ in population:
        first, second = map(toolbox.clone, toolbox.parents(population))
        toolbox.mate(first, second)
        children += [first, second]
    mutants = [toolbox.clone(each) for each in toolbox.chosen(population)]
    for mutant in mutants:
        toolbox.mutate(mutant)
    return [*children, *mutants]
