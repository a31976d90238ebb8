"""Generations on arrays: what is drawn has the distribution of the text."""

from collections import Counter
from itertools import product

import numpy as np
from numpy.random import default_rng

from heuristics.batching.evolution import CostTable, Settings
from heuristics.batching.evolution.genome import IDLE
from heuristics.batching.evolution.vectorised import Pairs, crossover, mutants, pairs, preempted, selected
from tests.heuristics.batching.evolution.tables import chi_square, uniform


def test_figure_8_crosses_two_parents() -> None:
    """332211 and 111223 give 312221 and 131213 where the second, fifth and fourth GPU are exchanged."""
    parents = np.array([[3, 3, 2, 2, 1, 1], [1, 1, 1, 2, 2, 3]])
    exchanged = np.array([[False, True, False, True, True, False]])
    found = crossover(parents, Pairs(np.array([0]), np.array([1]), exchanged))

    assert found.tolist() == [[3, 1, 2, 2, 2, 1], [1, 3, 1, 2, 1, 3]]


def test_parents_differ_and_any_gpus_are_exchanged() -> None:
    """Every pair of different parents is as likely as every other, and so is every set of GPUs."""
    generator = default_rng(5)
    drawn = [pairs(4, 3, generator) for _ in range(600)]
    couples = Counter(pair for each in drawn for pair in zip(each.first, each.second, strict=True))
    masks = Counter(tuple(row) for each in drawn for row in each.exchanged.tolist())

    assert set(couples) == {pair for pair in product(range(4), repeat=2) if pair[0] != pair[1]}
    assert chi_square(list(couples.values()), [200] * 12) < 32  # one in a thousand seeds exceeds it
    assert len(masks) == 8
    assert chi_square(list(masks.values()), [300] * 8) < 25


def test_a_single_candidate_is_its_own_partner() -> None:
    """A population of one has a child too."""
    drawn = pairs(1, 2, default_rng(0))

    assert (drawn.first.tolist(), drawn.second.tolist()) == ([0], [0])


def test_jobs_or_workers_are_preempted_with_the_rate() -> None:
    """Whole jobs, or single workers, go independently of each other; an idle GPU is no reason for either."""
    many = np.array([[0, 1, 1, IDLE]] * 4000)
    jobs = Counter(tuple(row[:3]) for row in preempted(many, 2, 0.25, "jobs", default_rng(2)).tolist())
    workers = Counter(tuple(row[:3]) for row in preempted(many, 2, 0.25, "workers", default_rng(2)).tolist())
    whole = [(a, b, b) for a, b in product((False, True), repeat=2)]
    single = list(product((False, True), repeat=3))

    assert set(jobs) == set(whole)
    fair = [4000 * 0.25 ** (a + b) * 0.75 ** (2 - a - b) for a, b, _ in whole]
    assert chi_square([jobs[each] for each in whole], fair) < 17
    fair = [4000 * 0.25 ** sum(each) * 0.75 ** (3 - sum(each)) for each in single]
    assert chi_square([workers[each] for each in single], fair) < 25


def test_mutants_are_drawn_with_replacement() -> None:
    """Every candidate is as likely to be every mutant; at a rate of 1 all of them lose all jobs."""
    generator = default_rng(4)
    many = np.array([[0], [1]])
    drawn = [mutants(many, 2, Settings(mutation_rate=0), generator) for _ in range(800)]
    both = Counter((int(first[0]), int(second[0])) for first, second in drawn)

    assert len(both) == 4
    assert chi_square(list(both.values()), [200] * 4) < 17  # one in a thousand seeds exceeds it
    assert mutants(many, 2, Settings(mutation_rate=1), generator).tolist() == [[IDLE], [IDLE]]
    assert many.tolist() == [[0], [1]]


def test_the_best_are_selected() -> None:
    """The least costs survive, of equal ones those that come first; distinct ones go before repeated ones."""
    table = uniform(2, 2)
    counts = np.array([[0, 2], [2, 0], [2, 0], [1, 1]])
    costs = table.used_cost
    order, scores = selected(counts, 3, table, Settings(), costs, default_rng(0))
    apart, _ = selected(counts, 3, table, Settings(distinct=True), costs, default_rng(0))

    assert order.tolist() == [1, 2, 3]
    assert scores.tolist() == [2, 2, 2.125]
    assert apart.tolist() == [1, 3, 0]


def test_draws_select_each_candidate_once() -> None:
    """By Thompson sampling the first survivor is that of the generation's draw, the others are of any draw."""
    table = CostTable.of(
        ["a", "b", "c"],
        [[0, 1]] * 3,
        weight=[2, 2, 2],
        draw=lambda generator: generator.permutation([1.0, 2.0, 9.0]),
    )
    counts = np.eye(3, dtype=np.int64)
    costs = np.array([[0.0, 5], [0, 3], [0, 4]])
    settings = Settings(selection="thompson")
    seconds = Counter[int]()
    for seed in range(300):
        order, scores = selected(counts, 2, table, settings, costs, default_rng(seed))
        assert order[0] == 1
        assert scores.tolist() == [3, costs[order[1], 1]]
        seconds[int(order[1])] += 1

    assert set(seconds) == {0, 2}
    assert chi_square(list(seconds.values()), [150, 150]) < 11
