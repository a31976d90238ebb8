"""Population: candidates from which a later search can start."""

from dataclasses import dataclass

import numpy as np

from heuristics.batching.evolution import rows
from heuristics.batching.evolution.genome import IDLE
from heuristics.batching.evolution.rows import Genomes
from heuristics.batching.evolution.settings import Settings
from heuristics.batching.evolution.table import CostTable, Floats, Whole


@dataclass(frozen=True, eq=False)
class Population:
    """Candidates together with job names, because jobs may come and go before the next search.

    Attributes
    ----------
    jobs
        Names of the jobs, in the order of the numbers that stand for them in the genomes.
    batch_limit
        Batch limits of these jobs when the genomes were created; they determine the batch sizes.
    genomes
        The job of each GPU, -1 for none; one candidate in each row, shape (candidates, GPUs).

    Examples
    --------
    >>> Population(("a",), np.array([8]), np.array([[0, -1]])).genomes.shape
    (1, 2)
    """

    jobs: tuple[str, ...]
    batch_limit: Whole
    genomes: Genomes


def initial(table: CostTable, size: int, generator: np.random.Generator) -> Population:
    """Assign a random job to every GPU of every candidate (section 3.2.2, Initialization)."""
    shape = (size, table.gpus)
    genomes = generator.integers(table.jobs, size=shape) if table.jobs else np.full(shape, IDLE)
    return Population(table.names, table.batch_limit, genomes)


def refresh(
    population: Population, table: CostTable, settings: Settings, generator: np.random.Generator
) -> Population:
    """Bring candidates up to date (section 3.2.2, Refresh).

    Jobs that have ended give up their GPUs (1), jobs whose batches exceed lowered limits shrink (2), jobs that
    must run get GPUs (3), and idle GPUs are filled. If the cluster has changed, surplus GPUs are removed, and
    new GPUs start idle. Surplus candidates are dropped, and missing ones are created at random. If nothing
    has changed since a search, the candidates that it left stay the same.
    """
    carried = _carried(population, table)
    size = settings.population or max(table.gpus, 1)
    if len(carried) < size:
        more = initial(table, size - len(carried), generator).genomes
        carried = np.concatenate([carried, more])
    genomes = carried[:size].copy()
    _scale_down(genomes, population, table, settings)
    repair(genomes, table, settings, generator)
    return Population(table.names, table.batch_limit, genomes)


def repair(
    genomes: Genomes,
    table: CostTable,
    settings: Settings,
    generator: np.random.Generator,
    costs: Floats | None = None,
) -> Whole:
    """Repair genomes in place: jobs get allowed numbers of GPUs, required jobs run, no usable GPU is idle.

    The workers of each job are also put next to each other. If `costs` is None, `CostTable.drawn_cost` is used.

    Returns
    -------
    ndarray
        GPUs of each job, shape (candidates, jobs).
    """
    used = table.drawn_cost(generator) if costs is None else costs
    redraws = settings.fill_draws == "selection" and table.draw is not None
    redraw = (lambda: table.drawn_cost(generator)) if redraws else None
    counts = rows.counts_of(genomes, table.jobs)
    rows.trim(genomes, counts, table.lower)
    if table.least.any():
        rows.admit(genomes, counts, table.least, table.victims)
        rows.trim(genomes, counts, table.lower)
    rows.fill(genomes, counts, table.lower, used, redraw)
    rows.reorder(genomes, table.jobs, settings.pack)
    return counts


def _carried(population: Population, table: CostTable) -> Genomes:
    """Return the genomes with the table's job numbers and GPUs. GPUs of jobs that have ended become idle."""
    new = [table.number.get(name, IDLE) for name in population.jobs]
    found = np.array([*new, IDLE])[population.genomes]  # idle GPUs, -1, look up the last entry
    missing = table.gpus - found.shape[1]
    if missing > 0:
        return np.pad(found, ((0, 0), (0, missing)), constant_values=IDLE)
    return found[:, : table.gpus]


def _scale_down(genomes: Genomes, old: Population, table: CostTable, settings: Settings) -> None:
    """Shrink the jobs whose batch limits have fallen. New jobs are not affected because they had no limit."""
    before = table.batch_limit.copy()
    for name, limit in zip(old.jobs, old.batch_limit.tolist(), strict=True):
        if name in table.number:
            before[table.number[name]] = limit
    if not (before > table.batch_limit).any():
        return
    counts = rows.counts_of(genomes, table.jobs)
    batch = np.minimum(before, counts * table.local_limit)
    kept = rows.kept_gpus(counts, batch, table.batch_limit, table.local_limit, settings.scale_down)
    rows.keep(genomes, counts, kept)
