"""Small cost tables, and genomes of their jobs."""

from typing import Any

import numpy as np
from numpy.random import Generator

from heuristics.batching.evolution import CostTable
from heuristics.batching.evolution.rows import Genomes


def drawn(generator: Generator, **options: Any) -> CostTable:
    """Draw up to six jobs on up to eight GPUs: small whole costs with ties, caps, and menus with gaps."""
    jobs, gpus = int(generator.integers(1, 7)), int(generator.integers(1, 9))
    unit = generator.integers(0, 5, size=(jobs, gpus + 1)).astype(float)
    gaps = generator.random((jobs, gpus + 1)) < generator.choice([0.0, 0.5], size=(jobs, 1))
    beyond = np.arange(gpus + 1) > generator.integers(0, gpus + 1, size=(jobs, 1))
    unit[gaps | beyond] = np.inf
    unit[:, 0] = 0
    lowest = np.where(np.isfinite(unit[:, 1:]), np.arange(1, gpus + 1), gpus + 1).min(axis=1)
    wanted = (lowest <= gpus) & (generator.random(jobs) < 0.4)
    forced = wanted & (np.cumsum(np.where(wanted, lowest, 0)) <= gpus)
    return CostTable.of(
        [f"j{number}" for number in range(jobs)],
        unit,
        weight=generator.integers(1, 4, size=jobs),
        forced=forced,
        processed_seconds=generator.integers(0, 3, size=jobs),
        **options,
    )


def genomes(table: CostTable, rows: int, generator: Generator) -> Genomes:
    """Draw genomes in which any job may have any GPU, and some GPUs are idle."""
    return generator.integers(-1, table.jobs, size=(rows, table.gpus))


def uniform(jobs: int, gpus: int, **options: Any) -> CostTable:
    """Return jobs that cost as much as they have GPUs, the later ones a little more for each."""
    unit = np.arange(gpus + 1) * (1.0 + np.arange(jobs)[:, None] / 8)
    return CostTable.of([f"j{number}" for number in range(jobs)], unit, weight=np.ones(jobs), **options)


def chi_square(counts: Any, expected: Any) -> float:
    """Return Pearson's statistic; about as large as there are outcomes less one where the counts fit."""
    found, fair = np.asarray(counts, dtype=float), np.asarray(expected, dtype=float)
    return float(((found - fair) ** 2 / fair).sum())
