"""Operators on many genomes against those on one."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from numpy.random import Generator, default_rng

from heuristics.batching.evolution import CostTable, genome, rows
from heuristics.batching.evolution.rows import Genomes
from heuristics.batching.evolution.settings import PackOrder, ScaleDown
from heuristics.batching.evolution.table import Whole
from tests.effort import cases
from tests.heuristics.batching.evolution.tables import drawn, genomes

Case = tuple[Generator, CostTable, Genomes]


def random_cases(number: int) -> Iterator[Case]:
    """Draw tables and a few genomes for each."""
    for seed in range(cases(number)):
        generator = default_rng(seed)
        table = drawn(generator)
        yield generator, table, genomes(table, int(generator.integers(0, 5)), generator)


def counts_fit(found: Genomes, counts: Whole, table: CostTable) -> bool:
    """Check whether the counts kept beside genomes are theirs."""
    return bool((rows.counts_of(found, table.jobs) == counts).all())


def test_repairs_are_those_of_single_genomes() -> None:
    """Trim, admit, trim and fill give what they give genome by genome, and keep the counts."""
    for _, table, many in random_cases(600):
        single, counts = many.tolist(), rows.counts_of(many, table.jobs)
        lower, costs = table.lower.tolist(), table.used_cost.tolist()
        rows.trim(many, counts, table.lower)
        for each in single:
            genome.trim(each, lower)
        assert many.tolist() == single
        rows.admit(many, counts, table.least, table.victims)
        for each in single:
            genome.admit(each, table.least.tolist(), table.victims.tolist())
        assert many.tolist() == single
        assert counts_fit(many, counts, table)
        rows.trim(many, counts, table.lower)
        rows.fill(many, counts, table.lower, table.used_cost)
        for each in single:
            genome.trim(each, lower)
            genome.fill(each, lower, costs)
        assert many.tolist() == single
        assert counts_fit(many, counts, table)
        scores = [genome.score(each, costs, target=table.gpus) for each in single]
        assert rows.scores(counts, table.used_cost, table.gpus).tolist() == scores


def test_fills_by_new_draws_are_those_of_a_single_genome() -> None:
    """With a draw for each selection one row is filled as its genome is."""
    for generator, table, many in random_cases(600):
        draws = [table.used_cost + generator.integers(0, 4, size=(table.jobs, 1)) for _ in range(table.jobs)]
        draws = [np.where(np.isfinite(draw), draw, np.inf) for draw in draws]
        for each in many[:1]:
            row, single = each[None, :].copy(), each.tolist()
            counts = rows.counts_of(row, table.jobs)
            rows.trim(row, counts, table.lower)
            genome.trim(single, table.lower.tolist())
            rows.fill(row, counts, table.lower, table.used_cost, iter(draws).__next__)
            lists = iter([draw.tolist() for draw in draws])
            genome.fill(single, table.lower.tolist(), table.used_cost.tolist(), lists.__next__)
            assert row.tolist() == [single]


@pytest.mark.parametrize("pack", ["first", "last"])
def test_rows_are_packed_as_single_genomes(pack: PackOrder) -> None:
    """Both orders of packing give the genomes that they give one by one."""
    for _, table, many in random_cases(300):
        single = many.tolist()
        for each in single:
            genome.reorder(each, pack)
        rows.reorder(many, table.jobs, pack)
        assert many.tolist() == single


@pytest.mark.parametrize("how", ["floor", "at least one", "widest"])
def test_jobs_shrink_as_one_by_one(how: ScaleDown) -> None:
    """Every reading of a fallen limit gives the numbers that it gives for one job."""
    given = [
        (gpus, min(old, gpus * local), limit, local)
        for gpus, old, limit, local in product((0, 1, 3), (1, 5, 9), (1, 4, 8), (1, 3))
    ]
    gpus, batch, limit, local = np.array(given).T
    found = rows.kept_gpus(gpus, batch, limit, local, how)

    assert found.tolist() == [genome.kept_gpus(*each, how) for each in given]
