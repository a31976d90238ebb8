"""Candidates that outlive a search."""

from collections import Counter

import numpy as np
import pytest
from numpy.random import default_rng

from heuristics.batching.evolution import CostTable, Population, Settings, genome
from heuristics.batching.evolution.population import initial, refresh, repair
from heuristics.batching.evolution.rows import counts_of
from heuristics.batching.evolution.settings import ScaleDown
from tests.effort import cases
from tests.heuristics.batching.evolution.tables import chi_square, drawn, genomes, uniform


def test_first_candidates_run_random_jobs() -> None:
    """Every job is as likely on every GPU as every other."""
    found = initial(uniform(3, 2), 3000, default_rng(1)).genomes
    both = Counter(map(tuple, found.tolist()))

    assert len(both) == 9
    assert chi_square(list(both.values()), [3000 / 9] * 9) < 27  # one in a thousand seeds exceeds it


def test_a_refresh_takes_over_who_is_left() -> None:
    """Jobs keep their GPUs by name whatever their numbers; who is gone leaves them to who costs least more."""
    old = Population(("gone", "b", "a"), np.array([8, 8, 8]), np.array([[0, 1, 2, 0], [1, 1, 1, 0]]))
    table = CostTable.of(["a", "b", "c"], [[0, 1, 5, 9, 9]] * 3, weight=[1, 2, 3], batch_limit=[8, 8, 8])
    found = refresh(old, table, Settings(population=2), default_rng(0)).genomes

    assert found.tolist() == [[0, 0, 0, 1], [1, 1, 1, 1]]


def test_a_refresh_changes_nothing_where_nothing_has_changed() -> None:
    """Candidates that are repaired and packed stay as they are."""
    for seed in range(cases(100)):
        generator = default_rng(seed)
        table = drawn(generator)
        first = refresh(initial(table, 3, generator), table, Settings(population=3), generator)
        again = refresh(first, table, Settings(population=3), generator)
        assert again.genomes.tolist() == first.genomes.tolist()


@pytest.mark.parametrize(("how", "left"), [("floor", [2, 0]), ("at least one", [2, 1]), ("widest", [3, 1])])
def test_jobs_shrink_with_their_limits(how: ScaleDown, left: list[int]) -> None:
    """A job with 1,024 samples shrinks at a limit of 700, one with 64 at 30, and c takes what they leave."""
    old = Population(("a", "b", "c"), np.array([1024, 64, 9]), np.array([[0, 0, 0, 0, 1, 1]]))
    dear, cheap = [0, 1, 9, 99, 999, np.inf, np.inf], [0, 1, 1, 1, 1, 1, 1]
    table = CostTable.of(
        ["a", "b", "c"],
        np.array([dear, dear, cheap]),
        weight=[1, 1, 1],
        batch_limit=[700, 30, 9],
        local_limit=[256, 32, 1],
    )
    found = refresh(old, table, Settings(population=1, scale_down=how), default_rng(0))

    assert counts_of(found.genomes, 3)[0, :2].tolist() == left
    assert found.batch_limit.tolist() == [700, 30, 9]


def test_new_jobs_get_a_gpu_of_the_job_that_has_run_longest() -> None:
    """Two new jobs take GPUs of b, which has run longer than a, in every candidate (Refresh, 3)."""
    old = Population(("a", "b"), np.array([4, 4]), np.array([[0, 0, 1, 1], [1, 1, 1, 0]]))
    table = CostTable.of(
        ["a", "b", "c", "d"],
        [[0, 1, 2, 3, 4]] * 4,
        weight=[1, 1, 1, 1],
        forced=[False, False, True, True],
        processed_seconds=[10, 20, 0, 0],
    )
    found = refresh(old, table, Settings(population=2), default_rng(0)).genomes

    assert counts_of(found, 4).tolist() == [[2, 0, 1, 1], [1, 1, 1, 1]]


@pytest.mark.parametrize("gpus", [2, 5])
def test_a_cluster_may_change(gpus: int) -> None:
    """Candidates of a smaller cluster gain GPUs, those of a larger one lose some; the first ones stay."""
    old = Population(("a",), np.array([9]), np.array([[0, 0, 0]] * 4))
    found = refresh(old, uniform(1, gpus), Settings(), default_rng(0)).genomes
    names = refresh(old, uniform(2, gpus), Settings(population=7), default_rng(0))
    fewer = Population(("j0", "j1"), np.array([9, 9]), np.array([[0] * gpus, [1] * gpus, [0] * gpus]))
    best = refresh(fewer, uniform(2, gpus), Settings(population=2), default_rng(0))

    assert best.genomes.tolist() == [[0] * gpus, [1] * gpus]
    assert found.tolist() == [[0] * gpus] * gpus
    assert names.genomes.shape == (7, gpus)


def test_repairs_are_those_of_single_genomes() -> None:
    """All steps together give what they give genome by genome."""
    for seed in range(cases(300)):
        generator = default_rng(seed)
        table = drawn(generator)
        many = genomes(table, 3, generator)
        single = many.tolist()
        counts = repair(many, table, Settings(pack="last"), generator)
        lower, costs = table.lower.tolist(), table.used_cost.tolist()
        for each in single:
            genome.trim(each, lower)
            genome.admit(each, table.least.tolist(), table.victims.tolist())
            genome.trim(each, lower)
            genome.fill(each, lower, costs)
            genome.reorder(each, "last")
        assert many.tolist() == single
        assert (counts >= table.least).all()
        assert (counts <= table.cap).all()
