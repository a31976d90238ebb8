"""Evolving: the genetic search."""

import numpy as np
import pytest

from gsopt.core.numbers.tolerances import SUM
from heuristics.policies.aryl.schedulers.evolving import SearchEffort, evolve, repaired
from heuristics.policies.aryl.schedulers.fitness import Counts, Fitness
from tests.effort import cases
from tests.heuristics.policies.aryl.schedulers.epochs import calm, drawn, linear


def _fits(fitness: Fitness, row: Counts) -> bool:
    return all((row * fitness.worker_gpus)[confined].sum() <= gpus for confined, gpus in fitness.limits)


def test_repairs_fit_and_take_no_more_than_they_must() -> None:
    """What is repaired fits in all pools, grows nowhere, and stays as it was where it fitted."""
    for seed in range(cases(100)):
        random = np.random.default_rng(seed)
        fitness = Fitness.of(drawn(seed), power=-1)
        if not fitness.jobs:
            continue
        rows = fitness.allowed[
            np.arange(len(fitness.jobs)), random.integers(0, fitness.most + 1, (6, len(fitness.jobs)))
        ]
        after = repaired(fitness, rows, random)
        for row, mended in zip(rows, after, strict=True):
            assert _fits(fitness, mended)
            assert (mended <= row).all()
            assert not _fits(fitness, row) or (mended == row).all()


def test_one_job_is_not_cut_where_others_can_be() -> None:
    """Of 2 GPUs too much exactly 2 are taken away where workers have one GPU."""
    fitness = Fitness.of(calm(*(linear(job, 9) for job in range(5)), training=10), power=-1)
    rows = np.full((20, 5), [3, 3, 3, 2, 1])
    assert (repaired(fitness, rows, np.random.default_rng(0)).sum(axis=1) == 10).all()


def test_small_searches_find_the_optimum() -> None:
    """With 3 jobs the search finds the best of all numbers of workers."""
    for seed in range(cases(20)):
        random = np.random.default_rng(seed)
        jobs = [linear(job, 9, base=int(random.integers(1, 4)), most=6) for job in range(3)]
        fitness = Fitness.of(calm(*jobs, training=int(random.integers(1, 8))), power=-1)
        every = np.stack(np.meshgrid(*(np.arange(most + 1) for most in fitness.most)), axis=-1).reshape(-1, 3)
        best = max(float(fitness.of_rows(row[None])[0]) for row in every if _fits(fitness, row))
        found = evolve(fitness, np.zeros(3, dtype=np.int64), SearchEffort(), random)
        assert float(fitness.of_rows(found[None])[0]) == pytest.approx(best, rel=SUM)


def test_never_worse_than_its_start() -> None:
    """After one generation of two candidates the result is at least as good as what it began with."""
    for seed in range(cases(50)):
        fitness = Fitness.of(drawn(seed), power=-1)
        if not fitness.jobs:
            continue
        start = repaired(fitness, np.array([[job.extra for job in fitness.jobs]]), np.random.default_rng(0))[0]
        found = evolve(fitness, start, SearchEffort(2, 1, 1), np.random.default_rng(seed))
        assert fitness.of_rows(found[None]) >= fitness.of_rows(start[None])


def test_what_is_best_for_each_needs_no_search() -> None:
    """Where all can have what is best for each alone, they get it."""
    fitness = Fitness.of(calm(*(linear(job, 9) for job in range(50)), training=150), power=-1)
    assert (
        evolve(fitness, fitness.most * 0, SearchEffort(2, 1, 1), np.random.default_rng(0)).tolist() == [3] * 50
    )
