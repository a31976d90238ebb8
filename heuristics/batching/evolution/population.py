"""Population: candidates that outlive a search, so that the next one goes on from them."""

from dataclasses import dataclass, replace

import numpy as np

from heuristics.batching.evolution import rows
from heuristics.batching.evolution.genome import IDLE
from heuristics.batching.evolution.rows import Genomes
from heuristics.batching.evolution.settings import Settings
from heuristics.batching.evolution.table import CostTable, Floats, Whole


@dataclass(frozen=True, eq=False)
class Population:
    """Candidates, and what is needed to know them again when jobs have come and gone.

    Attributes
    ----------
    jobs
        Names of the jobs whose numbers stand in the genomes.
    batch_limit
        Batch limits of these jobs when the genomes were made; their batches are as large as those allow.
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
    """Let every GPU of every candidate run a random job (section 3.2.2, Initialization)."""
    shape = (size, table.gpus)
    genomes = generator.integers(table.jobs, size=shape) if table.jobs else np.full(shape, IDLE)
    return Population(table.names, table.batch_limit, genomes)


def refresh(
    population: Population, table: CostTable, settings: Settings, generator: np.random.Generator
) -> Population:
    """Bring candidates up to date (section 3.2.2, Refresh).

    Jobs that are gone leave their GPUs (1), jobs whose batch limits fell shrink (2), jobs that must run get
    GPUs (3), and idle GPUs are filled. Where nothing has changed candidates stay as they are. A cluster of
    another size has the candidates' first GPUs, or idle ones beside them.

    Parameters
    ----------
    population
        The candidates.
    table
        What is known of the jobs now.
    settings
        The readings; missing candidates are random ones, and those that are too many are left out.
    generator
        Draws the weights.
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
    *,
    is_compiled: bool = False,
) -> Whole:
    """Make candidates of genomes: no job above its cap, all run that must, no GPU idle that can be used.

    The genomes are changed.

    Parameters
    ----------
    genomes
        Any genomes of the table's jobs.
    table, settings, generator
        As in `refresh`.
    costs
        Costs of the generation; drawn when None.
    is_compiled
        Whether loops do it that numba compiles, where one draw ranks all jobs.

    Returns
    -------
    ndarray
        GPUs of each job, shape (candidates, jobs).
    """
    used = table.drawn_cost(generator) if costs is None else costs
    redraws = settings.fill_draws == "selection" and table.draw is not None
    redraw = (lambda: table.drawn_cost(generator)) if redraws else None
    counts = rows.counts_of(genomes, table.jobs)
    if is_compiled and redraw is None:
        from heuristics.batching.evolution.kernel import repair_rows

        by_last = settings.pack == "last"
        repair_rows(genomes, counts, table.lower, table.least, table.victims, used, by_last)
        return counts
    rows.trim(genomes, counts, table.lower)
    if table.least.any():
        rows.admit(genomes, counts, table.least, table.victims)
        rows.trim(genomes, counts, table.lower)
    rows.fill(genomes, counts, table.lower, used, redraw)
    rows.reorder(genomes, table.jobs, settings.pack)
    return counts


def _carried(population: Population, table: CostTable) -> Genomes:
    """Fit genomes to the table's number of jobs; a job that is gone leaves its GPUs idle."""
    new = [table.number.get(name, IDLE) for name in population.jobs]
    found = np.array([*new, IDLE])[population.genomes]  # the last one is that of idle GPUs, -1
    missing = table.gpus - found.shape[1]
    if missing > 0:
        return np.pad(found, ((0, 0), (0, missing)), constant_values=IDLE)
    return found[:, : table.gpus]


def _scale_down(genomes: Genomes, old: Population, table: CostTable, settings: Settings) -> None:
    """Let jobs shrink whose batch limits have fallen; new ones had none."""
    before = table.batch_limit.copy()
    for name, limit in zip(old.jobs, old.batch_limit.tolist(), strict=True):
        if name in table.number:
            before[table.number[name]] = limit
    if not (before > table.batch_limit).any():
        return
    counts = rows.counts_of(genomes, table.jobs)
    batch = np.minimum(before, counts * table.local_limit)
    rows.keep(
        genomes,
        counts,
        rows.kept_gpus(counts, batch, table.batch_limit, table.local_limit, settings.scale_down),
    )


def with_genomes(population: Population, genomes: Genomes) -> Population:
    """Return the same jobs with other candidates."""
    return replace(population, genomes=genomes)
