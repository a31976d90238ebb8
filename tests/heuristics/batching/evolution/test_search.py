"""Searches by both engines."""

import random
from collections import Counter

import numpy as np
import pytest
from numpy.random import Generator, default_rng

from gsopt.performance.batching.split import split
from heuristics.batching.evolution import CostTable, Engine, Population, Settings, evolve
from heuristics.batching.evolution.rows import counts_of
from tests.effort import cases
from tests.heuristics.batching.evolution.tables import drawn, uniform

ENGINES: tuple[Engine, ...] = ("vectorised", "deap")


def hard(draws: bool = False) -> CostTable:
    """Return three jobs on three GPUs of which no two divisions cost the same."""
    unit = [[0, 3, 4, 9], [0, 2, 7, 8], [0, 4, 5, 6]]

    def draw(generator: Generator) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return generator.choice([0.5, 3.0], size=3)

    return CostTable.of(["a", "b", "c"], unit, weight=[1, 1.7, 1.31], draw=draw if draws else None)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(population=2),
        Settings(population=2, preempts="workers", mutation_rate=0.5, distinct=True),
        Settings(population=3, selection="thompson", fill_draws="selection"),
    ],
    ids=["paper", "workers", "draws"],
)
def test_both_engines_follow_the_same_distribution(settings: Settings) -> None:
    """After one generation of equal candidates the survivors of 200 seeds are spread alike."""
    table = hard(draws=settings.selection == "thompson")
    old = Population(table.names, table.batch_limit, np.array([[0, 0, 2], [1, 1, 0], [2, 2, 2]]))
    spread = {
        engine: Counter(
            tuple(map(tuple, counts_of(found.population.genomes, 3).tolist()))
            for found in (
                evolve(table, 1, settings=settings, engine=engine, population=old, generator=default_rng(seed))
                for seed in range(200)
            )
        )
        for engine in ENGINES
    }
    outcomes = sorted(spread["deap"] | spread["vectorised"])
    ours, theirs = (np.array([spread[engine][each] for each in outcomes]) for engine in ENGINES)
    statistic = float(((ours - theirs) ** 2 / (ours + theirs)).sum())

    assert len(outcomes) > 3
    assert statistic < len(outcomes) + 3.1 * (2 * len(outcomes)) ** 0.5  # three deviations above the mean


@pytest.mark.parametrize("engine", ENGINES)
def test_no_search_beats_the_optimum(engine: Engine) -> None:
    """Candidates keep all rules, cost what they are said to, and no less than the best division."""
    hits = 0
    for seed in range(cases(150)):
        generator = default_rng(seed)
        table = drawn(generator)
        found = evolve(table, 12, engine=engine, generator=generator, settings=Settings(population=6))
        counts = counts_of(found.population.genomes, table.jobs)
        costs = table.used_cost
        assert (counts >= table.least).all()
        assert (counts == np.take_along_axis(table.lower, counts.T, axis=1).T).all()
        own = [found.best.count(job) for job in range(table.jobs)]
        assert found.score == sum(costs[job, count] for job, count in enumerate(own))
        optimum = split(costs, sum(own), must=table.forced)
        if optimum.sum() == sum(own):
            assert found.score >= costs[np.arange(table.jobs), optimum].sum()
            hits += bool(found.score == costs[np.arange(table.jobs), optimum].sum())
    assert hits > cases(150) / 2


@pytest.mark.parametrize("engine", ENGINES)
def test_a_seed_repeats_a_search(engine: Engine) -> None:
    """Equal seeds give equal candidates, and others do not; draws that all of Python shares are left alone."""
    table = uniform(5, 6)
    others = random.getstate()
    runs = [
        evolve(table, 1, engine=engine, generator=default_rng(seed)).population.genomes.tolist()
        for seed in (4, 4, 5, 6)
    ]

    assert runs[0] == runs[1]
    assert runs[0] not in runs[2:]
    assert random.getstate() == others


@pytest.mark.parametrize("engine", ENGINES)
def test_the_best_of_all_is_kept(engine: Engine) -> None:
    """Where costs are known no generation's best is worse than the last one's, and the result is the best."""
    found = evolve(hard(), 15, engine=engine, settings=Settings(population=4), generator=default_rng(2))
    best = found.logbook.select("best")

    assert best == sorted(best, reverse=True)
    assert found.score == best[-1] == min(best)
    assert found.logbook.select("generation") == list(range(16))


@pytest.mark.parametrize("engine", ENGINES)
def test_where_costs_are_drawn_the_best_is_that_of_the_last_draw(engine: Engine) -> None:
    """The result is scored by the draw of the last generation, as Algorithm 1 has it."""
    found = evolve(hard(draws=True), 8, engine=engine, generator=default_rng(1))

    assert found.score == found.logbook[-1]["best"]
    assert found.best == found.population.genomes[0].tolist()


def test_a_search_goes_on() -> None:
    """A policy hands in the candidates of last time: jobs that have come run, jobs that have gone do not."""
    first = evolve(hard(), 10)
    unit = [[0, 2, 7, 8], [0, 4, 5, 6], [0, 1, 1, 1]]
    later = CostTable.of(["b", "c", "new"], unit, weight=[1.7, 1.31, 1], forced=[False, False, True])
    found = evolve(later, 0, population=first.population)

    assert found.population.jobs == ("b", "c", "new")
    assert (counts_of(found.population.genomes, 3)[:, 2] >= 1).all()
    assert evolve(later, 10, population=found.population).gpus_of(later) == {"new": 3}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("settings", [Settings(mutation_rate=0.5), Settings(preempts="workers")])
def test_copies_stay_in_a_local_optimum(engine: Engine, settings: Settings) -> None:
    """The last GPU goes to who costs least at its cap, so that copies never come to who costs less on it."""
    unit = np.array([[0, 1, 1, np.inf], [0, 5, 6, np.inf], [0, 2, 9, np.inf]])
    table = CostTable.of(["first", "wide", "narrow"], unit, weight=[1, 1, 1])
    copies = Population(table.names, table.batch_limit, np.array([[0, 0, 1]] * 3))
    found = evolve(table, 60, engine=engine, settings=settings, population=copies)

    assert found.gpus_of(table) == {"first": 2, "wide": 1}
    assert split(table.used_cost, 3).tolist() == [2, 0, 1]


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_to_divide(engine: Engine) -> None:
    """Without jobs, or without GPUs, there is the candidate in which nobody runs."""
    none = CostTable.of([], np.zeros((0, 3)), weight=[], draw=lambda generator: generator.random(0))
    nobody = evolve(none, 2, engine=engine, settings=Settings(fill_draws="selection"))
    nowhere = evolve(CostTable.of(["a"], [[0]], weight=[1]), 2, engine=engine)

    assert (nobody.best, nobody.score) == ([-1, -1], 0)
    assert (nowhere.best, nowhere.score) == ([], 0)
