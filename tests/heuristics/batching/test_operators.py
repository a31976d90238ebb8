"""The operators of the evolutionary search, on one genome, on arrays, and in a toolbox."""

from collections import Counter
from collections.abc import Iterator
from itertools import cycle, product
from random import Random

import numpy as np
import pytest
from deap import base
from numpy.random import Generator, default_rng

from heuristics.batching.evolution import CostTable, Settings, genome, rows, vectorised
from heuristics.batching.evolution.candidate import Candidate
from heuristics.batching.evolution.genome import (
    IDLE,
    admit,
    counts_of,
    crossover,
    fill,
    keep,
    kept_gpus,
    preempt,
    reorder,
    score,
    trim,
)
from heuristics.batching.evolution.population import repair
from heuristics.batching.evolution.rows import Genomes
from heuristics.batching.evolution.settings import PackOrder, ScaleDown
from heuristics.batching.evolution.table import Whole
from heuristics.batching.evolution.toolbox import toolbox_of
from heuristics.batching.evolution.vectorised import ParentPairs, mutants, pairs, preempted, selected
from tests.effort import cases
from tests.heuristics.batching.tables import chi_square, drawn, genomes, uniform

LOW, HIGH = 0.1, 0.9


class Scripted(Random):
    """Draws what it is told."""

    def __init__(self, *numbers: float) -> None:
        super().__init__(0)
        self._numbers: Iterator[float] = cycle(numbers)

    def random(self) -> float:
        """Return the next number."""
        return next(self._numbers)


def test_figure_7_fills_by_two_jobs() -> None:
    """Of three idle GPUs job 1, selected first, takes the two up to its cap, and job 2 the one that is left."""
    genome = [0, IDLE, IDLE, IDLE]
    lower = [[0, 1, 1, 1, 1], [0, 1, 2, 2, 2], [0, 1, 2, 3, 3]]
    fill(genome, lower, [[0, 1], [0, 3, 4], [0, 2, 4, 6]])

    assert genome == [0, 1, 1, 2]


def test_figure_8_crosses_two_parents() -> None:
    """332211 and 111223 give 312221 and 131213 where the second, fifth and fourth GPU are exchanged."""
    first, second = [3, 3, 2, 2, 1, 1], [1, 1, 1, 2, 2, 3]
    crossover(first, second, Scripted(HIGH, LOW, HIGH, LOW, LOW, HIGH))

    assert first == [3, 1, 2, 2, 2, 1]
    assert second == [1, 3, 1, 2, 1, 3]


def test_figure_9_replaces_two_workers() -> None:
    """A worker of job 1 and one of job 2 are preempted, the others stay, and job 4 takes both GPUs."""
    genome = [1, 2, 2, 3, 1, 3]
    preempt(genome, 0.5, Scripted(HIGH, HIGH, LOW, HIGH, LOW, HIGH), "workers")
    assert genome == [1, 2, IDLE, 3, IDLE, 3]

    cheap, dear = [0.0, 1, 1, 1, 1, 1, 1], [0.0, 1, 9, 9, 9, 9, 9]
    fill(genome, [[0] * 7, *([[0, 1, 2, 2, 2, 2, 2]] * 4)], [dear, dear, dear, dear, cheap])
    assert genome == [1, 2, 4, 3, 4, 3]


def test_jobs_are_preempted_whole() -> None:
    """By the text every worker of a job goes or none, the jobs drawn in the order in which they occur."""
    genome = [1, 2, 2, 3, 1, 3]
    preempt(genome, 0.5, Scripted(LOW, HIGH, LOW), "jobs")

    assert genome == [IDLE, 2, 2, IDLE, IDLE, IDLE]


def test_figure_10_packs_workers() -> None:
    """The figure packs 312221 to 322211, by last occurrence; by the text job 1 comes before job 2."""
    figure, text = [3, 1, 2, 2, 2, 1], [3, 1, 2, 2, 2, 1]
    reorder(figure, "last")
    reorder(text)

    assert figure == [3, 2, 2, 2, 1, 1]
    assert text == [3, 1, 1, 2, 2, 2]


@pytest.mark.parametrize(
    ("how", "kept"),
    [
        ("floor", [4, 2, 0, 0]),  # printed: R c / B rounded down may leave none
        ("at least one", [4, 2, 1, 1]),
        ("widest", [4, 3, 1, 1]),  # 700 samples need three GPUs of 256
    ],
)
def test_jobs_shrink_when_their_limit_falls(how: ScaleDown, kept: list[int]) -> None:
    """A job on 4 GPUs with 1,024 samples keeps what each reading leaves, or all of them."""
    assert [kept_gpus(4, 1024, limit, 256, how) for limit in (1024, 700, 255, 1)] == kept


def test_new_jobs_take_gpus_of_the_oldest() -> None:
    """What is idle goes first, then GPUs of the job that has run longest, but one that it must have."""
    genome = [0, 0, 1, 1, 2, IDLE]
    admit(genome, least=[0, 0, 1, 1, 2, 2], victims=[2, 0, 1, 3, 4, 5])

    assert counts_of(genome, 6) == [0, 0, 1, 1, 2, 2]
    assert genome[4:] == [2, 3]  # the idle one first


def test_jobs_are_trimmed_to_what_they_can_run_on() -> None:
    """A job with 1, 2 or 4 GPUs keeps two of three, the first ones."""
    genome = [0, 1, 0, 0, 1]
    trim(genome, [[0, 1, 2, 2, 4, 4], [0, 0, 2, 2, 2, 2]])
    assert genome == [0, 1, 0, IDLE, 1]

    keep(genome, [1, 0])
    assert genome == [0, IDLE, IDLE, IDLE, IDLE]


def test_a_job_that_cannot_use_what_is_left_is_passed_over() -> None:
    """Job 0 costs least but needs two GPUs; the one that is idle goes to job 1."""
    genome = [2, IDLE]
    fill(genome, [[0, 0, 2], [0, 1, 1], [0, 1, 1]], [[0, 0, 1], [0, 5, 5], [0, 1, 1]])

    assert genome == [2, 1]


def test_every_selection_may_have_a_draw_of_its_own() -> None:
    """The first job is selected by the costs given, each further one by the next draw."""
    genome = [IDLE] * 3
    draws = iter([[[0, 1], [0, 9], [0, 2]], [[0, 1], [0, 1], [0, 1]]])
    fill(genome, [[0, 1, 1, 1]] * 3, [[0, 1], [0, 2], [0, 3]], lambda: next(draws))

    assert genome == [0, 2, 1]


def test_too_few_gpus_in_use_cost_infinitely_much() -> None:
    """A candidate that uses fewer GPUs than it must is no solution."""
    assert score([0, IDLE], [[7, 1, 1]], target=1) == 1
    assert score([0, IDLE], [[7, 1, 1]], target=2) == float("inf")
    assert score([IDLE, IDLE], [[7, 1, 1]]) == 7


def test_children_and_mutants_have_the_distribution_of_the_text() -> None:
    """Each GPU is exchanged with probability 1/2 and each job preempted with the rate, independently."""
    random = Random(3)
    outcomes = list(product((0, 1), repeat=3))
    exchanged, gone = dict.fromkeys(outcomes, 0), dict.fromkeys(outcomes, 0)
    for _ in range(2000):
        first, second = [0, 0, 0], [1, 1, 1]
        crossover(first, second, random)
        exchanged[first[0], first[1], first[2]] += 1
        genome = [0, 1, 2, 1]
        preempt(genome, 0.25, random)
        gone[genome[0] == IDLE, genome[1] == IDLE, genome[2] == IDLE] += 1
    rates = [0.25 ** sum(each) * 0.75 ** (3 - sum(each)) for each in outcomes]

    assert chi_square(list(exchanged.values()), [2000 / 8] * 8) < 25  # one in a thousand seeds exceeds it
    assert chi_square(list(gone.values()), [2000 * rate for rate in rates]) < 25


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


def test_figure_8_on_arrays() -> None:
    """332211 and 111223 give 312221 and 131213 where the second, fifth and fourth GPU are exchanged."""
    parents = np.array([[3, 3, 2, 2, 1, 1], [1, 1, 1, 2, 2, 3]])
    exchanged = np.array([[False, True, False, True, True, False]])
    found = vectorised.crossover(parents, ParentPairs(np.array([0]), np.array([1]), exchanged))

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


def test_mutants_on_arrays_are_drawn_with_replacement() -> None:
    """Every candidate is as likely to be every mutant; at a rate of 1 all of them lose all jobs."""
    generator = default_rng(4)
    many = np.array([[0], [1]])
    drawn = [mutants(many, 2, Settings(mutation_rate=0), generator) for _ in range(800)]
    both = Counter((int(first[0]), int(second[0])) for first, second in drawn)

    assert len(both) == 4
    assert chi_square(list(both.values()), [200] * 4) < 17  # one in a thousand seeds exceeds it
    assert mutants(many, 2, Settings(mutation_rate=1), generator).tolist() == [[IDLE], [IDLE]]
    assert many.tolist() == [[0], [1]]


def test_the_best_are_selected_on_arrays() -> None:
    """The least costs survive, of equal ones those that come first; distinct ones go before repeated ones."""
    table = uniform(2, 2)
    counts = np.array([[0, 2], [2, 0], [2, 0], [1, 1]])
    costs = table.used_cost
    order, scores = selected(counts, 3, table, Settings(), costs, default_rng(0))
    apart, _ = selected(counts, 3, table, Settings(distinct=True), costs, default_rng(0))

    assert order.tolist() == [1, 2, 3]
    assert scores.tolist() == [2, 2, 2.125]
    assert apart.tolist() == [1, 3, 0]


DRAWN = CostTable.of(
    ["a", "b", "c"],
    [[0, 1]] * 3,
    weight=[2, 2, 2],
    draw=lambda generator: generator.permutation([1.0, 2.0, 9.0]),
)


def test_draws_select_each_candidate_once_on_arrays() -> None:
    """By Thompson sampling the first survivor is that of the generation's draw, the others are of any draw."""
    counts = np.eye(3, dtype=np.int64)
    costs = np.array([[0.0, 5], [0, 3], [0, 4]])
    settings = Settings(selection="thompson")
    seconds = Counter[int]()
    for seed in range(300):
        order, scores = selected(counts, 2, DRAWN, settings, costs, default_rng(seed))
        assert order[0] == 1
        assert scores.tolist() == [3, costs[order[1], 1]]
        seconds[int(order[1])] += 1

    assert set(seconds) == {0, 2}
    assert chi_square(list(seconds.values()), [150, 150]) < 11


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
    seconds = Counter[int]()
    for seed in range(200):
        toolbox = toolbox_of(DRAWN, Settings(selection="thompson"), default_rng(seed))
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


def test_repairs_of_candidates_are_those_of_arrays() -> None:
    """Candidates of any table are repaired to the same genomes as rows are."""
    for seed in range(cases(300)):
        generator = default_rng(seed)
        table = drawn(generator)
        many = genomes(table, 2, generator)
        settings = Settings(pack="last" if seed % 2 else "first")
        toolbox = toolbox_of(table, settings, generator)
        single = [Candidate(each) for each in many.tolist()]
        counts = repair(many, table, settings, generator)
        for each in single:
            toolbox.repair(each, toolbox.draw())
        assert single == many.tolist()
        assert (counts == rows.counts_of(many, table.jobs)).all()
        assert (counts >= table.least).all()
        assert (counts <= table.cap).all()


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
