"""Generations on DEAP's lists."""

from collections import Counter

import numpy as np
from deap import base
from numpy.random import default_rng

from heuristics.batching.evolution import CostTable, Settings
from heuristics.batching.evolution.candidate import Candidate
from heuristics.batching.evolution.genome import IDLE
from heuristics.batching.evolution.population import repair
from heuristics.batching.evolution.toolbox import toolbox_of
from tests.effort import cases
from tests.heuristics.batching.evolution.tables import chi_square, drawn, genomes, uniform


def candidates(*scores: float) -> list[Candidate]:
    """Return candidates that can be told apart by their only GPU."""
    return [Candidate([place], score) for place, score in enumerate(scores)]


def first(found: list[Candidate]) -> list[int]:
    """Name candidates by their first GPU."""
    return [each[0] for each in found]


def test_the_operators_are_those_of_a_toolbox() -> None:
    """What is registered can be replaced by whoever wants another operator, as DEAP has it."""
    toolbox = toolbox_of(uniform(2, 3), Settings(), default_rng(0))

    assert isinstance(toolbox, base.Toolbox)
    toolbox.register("mate", list.extend)
    toolbox.mate(one := [1], [2])
    assert one == [1, 2]


def test_parents_differ() -> None:
    """Every pair of different parents is as likely as every other; a single candidate is its own partner."""
    toolbox = toolbox_of(uniform(2, 3), Settings(), default_rng(0))
    population = candidates(0, 0, 0)
    couples = Counter(tuple(first(toolbox.parents(population))) for _ in range(600))

    assert len(couples) == 6
    assert chi_square(list(couples.values()), [100] * 6) < 21  # one in a thousand seeds exceeds it
    assert first(toolbox.parents(population[:1])) == [0, 0]


def test_mutants_are_drawn_with_replacement() -> None:
    """Every candidate is as likely to be every mutant."""
    toolbox = toolbox_of(uniform(2, 3), Settings(), default_rng(0))
    population = candidates(0, 0)
    both = Counter(tuple(first(toolbox.chosen(population))) for _ in range(800))

    assert len(both) == 4
    assert chi_square(list(both.values()), [200] * 4) < 17  # one in a thousand seeds exceeds it


def test_the_best_are_selected() -> None:
    """The least scores survive; distinct ones before repeated ones where that is wanted."""
    pool = candidates(2, 1, 1, 3)
    plain = toolbox_of(uniform(2, 3), Settings(), default_rng(0))
    apart = toolbox_of(uniform(2, 3), Settings(distinct=True), default_rng(0))

    assert first(plain.select(pool, 2)) == [1, 2]
    assert first(apart.select(pool, 3)) == [1, 0, 3]
    assert first(apart.select(pool, 4)) == [1, 0, 3, 2]


def test_draws_select_each_candidate_once() -> None:
    """By Thompson sampling the first survivor is that of the generation's draw, the others are of any draw."""
    table = CostTable.of(
        ["a", "b", "c"],
        [[0, 1]] * 3,
        weight=[2, 2, 2],
        draw=lambda generator: generator.permutation([1.0, 2.0, 9.0]),
    )
    seconds = Counter[int]()
    for seed in range(200):
        toolbox = toolbox_of(table, Settings(selection="thompson"), default_rng(seed))
        chosen = first(toolbox.select(candidates(5, 3, 4), 2))
        assert chosen[0] == 1
        seconds[chosen[1]] += 1

    assert set(seconds) == {0, 2}
    assert chi_square(list(seconds.values()), [100, 100]) < 11


def test_a_copy_has_no_score() -> None:
    """Children start as copies of their parents, and are scored anew."""
    parent = Candidate([0, 1], 3)
    child = parent.copied()
    child[0] = 1

    assert (list(parent), parent.fitness.valid) == ([0, 1], True)
    assert (list(child), child.fitness.valid) == ([1, 1], False)


def test_repairs_are_those_of_arrays() -> None:
    """Candidates of any table are repaired to the same genomes as rows are."""
    for seed in range(cases(300)):
        generator = default_rng(seed)
        table = drawn(generator)
        many = genomes(table, 2, generator)
        toolbox = toolbox_of(table, Settings(), generator)
        single = [Candidate(each) for each in many.tolist()]
        repair(many, table, Settings(), generator)
        for each in single:
            toolbox.repair(each, toolbox.draw())
        assert single == many.tolist()


def test_who_must_give_gpus_may_have_to_give_all() -> None:
    """A job on two GPUs or none loses both when a new job needs one, in lists and arrays."""
    unit = np.array([[0, np.inf, 1], [0, 1, np.inf]])
    table = CostTable.of(["pair", "new"], unit, weight=[1, 1], forced=[False, True])
    toolbox = toolbox_of(table, Settings(), default_rng(0))
    single, many = Candidate([0, 0]), np.array([[0, 0]])
    toolbox.repair(single, toolbox.draw())
    counts = repair(many, table, Settings(), default_rng(0))

    assert list(single) == [1, IDLE]
    assert many.tolist() == [[1, IDLE]]
    assert counts.tolist() == [[0, 1]]


def test_costs_are_drawn_as_lists() -> None:
    """The lists of a draw have the numbers of the table."""
    table = uniform(2, 2)
    assert toolbox_of(table, Settings(), default_rng(0)).draw() == table.used_cost.tolist()

    random = CostTable.of(["a"], [[0, 1]], weight=[1], draw=lambda generator: generator.random(1))
    toolbox = toolbox_of(random, Settings(), default_rng(0))
    assert np.shape(toolbox.draw()) == (1, 2)
    assert toolbox.draw() != toolbox.draw()
