"""Vectorised: the generations of ONES' search on arrays that hold all candidates."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from heuristics.batching.evolution import rows
from heuristics.batching.evolution.genome import IDLE
from heuristics.batching.evolution.population import repair
from heuristics.batching.evolution.progress import SearchProgress
from heuristics.batching.evolution.rows import Genomes, Mask
from heuristics.batching.evolution.settings import Preempts, Settings
from heuristics.batching.evolution.table import CostTable, Floats, Whole


class ParentPairs(NamedTuple):
    """The two parents of each pair of children, and the GPUs whose jobs they exchange."""

    first: Whole
    second: Whole
    exchanged: Mask


def pairs(size: int, gpus: int, generator: np.random.Generator) -> ParentPairs:
    """Draw one pair of different parents per candidate, and the GPUs whose jobs they exchange (Figure 8).

    If there is only one candidate, it is both parents.
    """
    first, step = np.divmod(generator.integers(size * max(size - 1, 1), size=size), max(size - 1, 1))
    exchanged = generator.random((size, gpus), dtype=np.float32) < _HALF
    return ParentPairs(first, (first + 1 + step) % size, exchanged)


def crossover(parents: Genomes, drawn: ParentPairs) -> Genomes:
    """Return two children of each pair: the first children of all pairs, then the second children."""
    first, second = parents[drawn.first], parents[drawn.second]
    swapped = [np.where(drawn.exchanged, second, first), np.where(drawn.exchanged, first, second)]
    return np.concatenate(swapped)


def mutants(genomes: Genomes, jobs: int, settings: Settings, generator: np.random.Generator) -> Genomes:
    """Draw as many candidates as there are, with replacement, and preempt some jobs or workers (Figure 9)."""
    found = genomes[generator.integers(len(genomes), size=len(genomes))]
    found[preempted(found, jobs, settings.mutation_rate, settings.preempts, generator)] = IDLE
    return found


def preempted(genomes: Genomes, jobs: int, rate: float, what: Preempts, generator: np.random.Generator) -> Mask:
    """Return which GPUs lose their jobs in a random mutation, shape (rows, GPUs)."""
    if what == "workers":
        return generator.random(genomes.shape) < rate
    leaves = generator.random((len(genomes), jobs + 1)) < rate  # idle GPUs, -1, are the last one
    return leaves[np.arange(len(genomes))[:, None], genomes]


def selected(
    counts: Whole,
    size: int,
    table: CostTable,
    settings: Settings,
    costs: Floats,
    generator: np.random.Generator,
) -> tuple[Whole, Floats]:
    """Return the indices and scores of the survivors, the best one first (section 3.2.2, Selection)."""
    scores = rows.scores(counts, costs, table.target)
    if settings.selection == "thompson" and table.draw is not None:
        order = _by_thompson(counts, size, table, scores, generator)
    else:
        order = np.argsort(scores, kind="stable")
    if settings.distinct:
        ordered = scores[order]
        again = np.append([False], ordered[1:] == ordered[:-1])
        order = order[np.argsort(again, kind="stable")]
    order = order[:size]
    return order, scores[order]


def _by_thompson(
    counts: Whole, size: int, table: CostTable, scores: Floats, generator: np.random.Generator
) -> Whole:
    """Select each survivor by a run of Algorithm 1; the first run uses the current scores."""
    left = list(range(len(counts)))
    chosen: list[int] = []
    while len(chosen) < size:
        chosen.append(left.pop(int(scores[left].argmin())))
        scores = rows.scores(counts, table.drawn_cost(generator), table.target)
    return np.array(chosen)


_HALF = 0.5


def run(
    genomes: Genomes,
    table: CostTable,
    generations: Iterable[int],
    settings: Settings,
    generator: np.random.Generator,
    progress: SearchProgress,
) -> Genomes:
    """Evolve candidates, shape (candidates, GPUs), record every generation, and return the last one."""
    size, gpus = genomes.shape
    counts = rows.counts_of(genomes, table.jobs)
    for _ in generations:
        costs = table.drawn_cost(generator)
        children = crossover(genomes, pairs(size, gpus, generator))
        made = np.concatenate([children, mutants(genomes, table.jobs, settings, generator)])
        held = np.concatenate([counts, repair(made, table, settings, generator, costs)])
        order, scores = selected(held, size, table, settings, costs, generator)
        genomes, counts = np.concatenate([genomes, made])[order], held[order]
        progress.record(genomes[0].tolist(), scores.tolist())
    return genomes
