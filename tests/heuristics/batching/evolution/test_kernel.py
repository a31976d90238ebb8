"""Repairs as loops against those of arrays, without a compiler."""

import numpy as np
from numpy.random import default_rng

from gsopt.core.numbers.compiled import twin
from heuristics.batching.evolution import kernel, rows
from tests.effort import cases
from tests.heuristics.batching.evolution.tables import drawn, genomes


def test_loops_repair_as_arrays_do() -> None:
    """Every row and its counts are what trim, admit, trim, fill and reorder give."""
    loops = twin(kernel.repair_rows)
    for seed in range(cases(400)):
        generator = default_rng(seed)
        table = drawn(generator)
        many = genomes(table, 3, generator)
        counts = rows.counts_of(many, table.jobs)
        single, held = many.copy(), counts.copy()
        by_last = seed % 2 == 1
        loops(single, held, table.lower, table.least, table.victims, table.used_cost, by_last)
        rows.trim(many, counts, table.lower)
        rows.admit(many, counts, table.least, table.victims)
        rows.trim(many, counts, table.lower)
        rows.fill(many, counts, table.lower, table.used_cost)
        rows.reorder(many, table.jobs, "last" if by_last else "first")
        assert single.tolist() == many.tolist()
        assert held.tolist() == counts.tolist()


def test_no_jobs_and_no_gpus() -> None:
    """Nothing is repaired where there is nothing."""
    none = np.zeros((2, 0), dtype=np.int64)
    twin(kernel.repair_rows)(none, none, none, none[0], none[0], np.zeros((0, 1)), False)

    assert none.shape == (2, 0)
