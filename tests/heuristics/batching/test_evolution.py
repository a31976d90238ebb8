"""The evolutionary search: its costs, its populations, both engines, and the heuristic."""

import random
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator, default_rng

import gsopt
from gsopt.core.budget import Budget
from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.performance.batching import BatchingJob, Progress, Rate, StepTime, Tabulated
from gsopt.performance.batching.split import split
from gsopt.problems.batching import Batches, Batching
from gsopt.testing import brute_force, check_heuristic
from heuristics.batching import evolution
from heuristics.batching.evolution import (
    CostTable,
    Engine,
    Evolved,
    Population,
    Settings,
    convergence,
    evolve,
)
from heuristics.batching.evolution.offers import GpuOffers
from heuristics.batching.evolution.population import initial, refresh
from heuristics.batching.evolution.rows import counts_of
from heuristics.batching.evolution.settings import ScaleDown
from instances.batching import elastic_jobs
from tests.effort import cases
from tests.exactness import batching
from tests.gsopt.simulation.plots.samples import legend
from tests.heuristics.batching.tables import chi_square, drawn, uniform
from tests.heuristics.results import solved
from tests.processes import PATIENCE

INF = float("inf")


def test_what_follows_from_the_costs() -> None:
    """Caps, the next lower number of GPUs and the fewest follow from which costs are finite."""
    table = CostTable.of(
        ["a", "b", "c"],
        [[0, INF, 5, INF, 7], [0, 1, INF, INF, INF], [0, INF, INF, INF, INF]],
        weight=[1, 2, 3],
        forced=[True, False, False],
        processed_seconds=[1, 5, 1],
    )

    assert table.lower.tolist() == [[0, 0, 2, 2, 4], [0, 1, 1, 1, 1], [0, 0, 0, 0, 0]]
    assert table.cap.tolist() == [4, 1, 0]
    assert table.least.tolist() == [2, 0, 0]
    assert table.victims.tolist() == [1, 0, 2]
    assert table.used_cost.tolist() == [[0, INF, 5, INF, 7], [0, 2, INF, INF, INF], [0, INF, INF, INF, INF]]


def test_weights_are_drawn() -> None:
    """Costs are those of the weights that are drawn, the extra ones apart; without a draw they are as known."""
    known = CostTable.of(["a"], [[0, 2]], weight=[3], extra_cost=[[1, 5]])
    drawn = CostTable.of(
        ["a"],
        [[0, 2]],
        weight=[3],
        extra_cost=[[1, 5]],
        draw=lambda generator: generator.choice([4.0, 5.0], size=1),
    )

    assert known.drawn_cost(default_rng(0)).tolist() == [[1, 11]]
    assert {drawn.drawn_cost(default_rng(seed))[0, 1] for seed in range(9)} == {13, 15}
    assert drawn.used_cost.tolist() == [[1, 11]]


def test_there_may_be_nothing() -> None:
    """No jobs and no GPUs are a table too."""
    assert CostTable.of([], [], weight=[]).used_cost.shape == (0, 1)
    assert CostTable.of([], np.zeros((0, 4)), weight=[]).gpus == 3
    assert CostTable.of(["a"], [[0]], weight=[1], forced=[False]).least.tolist() == [0]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"weight": [1]}, "weight: (1,): must have the shape (2,)"),
        ({"forced": [True]}, "forced: (1,): must have the shape (2,)"),
        ({"extra_cost": [[0, 1]]}, "extra_cost: (1, 2): must have the shape of unit_cost, (2, 3)"),
        ({"weight": [1, INF]}, "weight: [1.0, inf]: must be finite"),  # the mean of what is left is infinite
        ({"forced": [True, True]}, "forced: 2: must be jobs that can all run at once"),  # 2 and 1 of 2 GPUs
    ],
)
def test_bad_tables_are_refused(options: dict[str, Any], reason: str) -> None:
    """What does not fit is named in one line."""
    given: dict[str, Any] = {"weight": [1, 1]} | options
    with pytest.raises(InvalidInput) as raised:
        CostTable.of(["a", "b"], np.array([[0, INF, 3], [0, 1, 1]]), **given)

    assert str(raised.value) == reason


MODEL = StepTime(fixed=0.05, per_sample=0.001)


def job(name: str = "a", **fields: object) -> BatchingJob:
    """Return a job of up to two GPUs."""
    given = {"batch_limit": 512, "local_limit": 256, "throughput": MODEL, "remaining": 1000.0} | fields
    return BatchingJob.model_validate({"name": name} | given)


def test_costs_are_those_of_the_judge() -> None:
    """On any problem a solution costs what the table adds up, and the optimum is within the table."""
    compared = 0
    for seed in range(cases(40)):
        problem = batching.draw(Random(seed))
        offers = GpuOffers.of(problem)
        sign = -1 if problem.criterion == "rate" else 1
        best = brute_force(problem)
        costs = offers.table.used_cost
        for chosen in ({}, *([] if best is None else [best[1]])):
            solution = chosen if isinstance(chosen, Batches) else Batches(running={})
            gpus = {name: grant.gpus for name, grant in solution.running.items()}
            total = sum(costs[place, gpus.get(name, 0)] for place, name in enumerate(offers.table.names))
            own = offers.solution(gpus)
            assert total == pytest.approx(sign * float(problem.objective(own)), rel=1e-12)
            if best is not None and solution is best[1]:
                assert problem.violations(own) == []
                assert problem.objective(own) == best[0]
            compared += 1
    assert compared > cases(40)


def test_a_job_keeps_its_batch_where_a_change_is_not_worth_it() -> None:
    """A batch of 500 on two GPUs is kept if 512 samples save less than the change costs."""
    before = job(previous_gpus=2, previous_batch=500)
    sizes = [
        GpuOffers.of(Batching(gpus=2, jobs=[before], reconfiguration=cost)).batch_sizes[0][2]
        for cost in (0.0, 9.0)
    ]

    assert sizes == [512, 500]


def test_what_is_left_is_drawn() -> None:
    """Draws have the mean of the distribution; known samples stay, and so does everything without a draw."""
    believed = job("b", remaining=None, progress=Progress(alpha=5, beta=8, processed=1000))
    problem = Batching(gpus=2, jobs=[job(), believed])
    draw = GpuOffers.of(problem, is_drawn=True).table.draw
    generator = default_rng(0)

    assert draw is not None
    weights = [draw(generator) for _ in range(3000)]
    assert {float(each[0]) for each in weights} == {1000.0}
    assert sum(float(each[1]) for each in weights) / 3000 == pytest.approx(2000, rel=0.05)
    assert GpuOffers.of(problem).table.draw is None
    assert GpuOffers.of(Batching(gpus=2, jobs=[job()]), is_drawn=True).table.draw is None


def test_rates_are_drawn_as_rates() -> None:
    """Where completions per second count, weights are one over the samples left."""
    believed = job(remaining=None, progress=Progress(alpha=5, beta=8, processed=1000))
    time, rate = (
        GpuOffers.of(Batching(gpus=2, jobs=[believed], criterion=criterion), is_drawn=True).table.draw
        for criterion in ("sum_time", "rate")
    )

    assert time is not None
    assert rate is not None
    assert 1 / time(default_rng(3)) == pytest.approx(rate(default_rng(3)))


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


def searched(rate: float) -> Evolved:
    """Search a division whose least cost is 8: all GPUs to the first job."""
    return evolve(uniform(6, 8), 30, settings=Settings(mutation_rate=rate))


def test_lines_are_gaps_to_the_optimum() -> None:
    """Each search has a line of its best candidate's gap to the optimum, and a dot where scores agree."""
    slow, fast = searched(0.0), searched(0.4)
    axes = convergence({"slow": slow.logbook, "fast": fast.logbook}, optimum=8.0)
    lines = list[Any](axes.lines)
    alike = fast.logbook.select("distinct").index(1)

    assert len(lines) == 4
    assert lines[2].get_ydata().tolist() == [best / 8 - 1 for best in fast.logbook.select("best")]
    assert lines[2].get_ydata()[-1] == 0
    assert lines[3].get_xdata() == [alike]
    assert legend(axes) == ["slow", "fast"]


def test_where_scores_never_agree_there_is_no_dot() -> None:
    """A search that keeps distinct candidates has a line only."""
    kept = evolve(uniform(6, 8), 5, settings=Settings(distinct=True))
    axes = convergence({"kept": kept.logbook}, optimum=8.0)
    dots: Any = axes.lines[1]

    assert list(dots.get_xdata()) == []
    assert not convergence({}, optimum=1.0).lines


def test_a_gap_needs_an_optimum_above_0() -> None:
    """Relative to 0 there is no gap."""
    with pytest.raises(InvalidInput, match="optimum: 0: must be above 0"):
        convergence({}, optimum=0)


READINGS: tuple[dict[str, Any], ...] = (
    {},
    {"engine": "deap", "preempts": "workers", "mutation_rate": 0.3},
    {"draws": True, "selection": "thompson", "fill_draws": "selection"},
    {"engine": "deap", "draws": True, "selection": "thompson", "fill_draws": "selection"},
    {"distinct": True, "pack": "last", "population": 5},
)


@pytest.mark.parametrize("options", READINGS, ids=["paper", "workers", "draws", "deap draws", "distinct"])
def test_every_reading_keeps_the_rules(options: dict[str, Any]) -> None:
    """On any tiny problem, of any criterion and menu, a solution is found that beats no optimum."""
    problems = [batching.draw(Random(f"evolution {seed}")) for seed in range(cases(40))]

    assert check_heuristic(evolution, problems, generations=5, **options) > cases(40) / 2


def test_most_optima_of_tiny_problems_are_found() -> None:
    """Some generations find more than three quarters of the optima."""
    hits = solved = 0
    for seed in range(cases(30)):
        problem = batching.draw(Random(f"optimum {seed}"))
        best = brute_force(problem)
        if best is not None:
            solved += 1
            hits += evolution(problem, generations=30, distinct=True).objective == best[0]
    assert hits > 0.75 * solved


def test_menus_with_gaps_are_filled() -> None:
    """Where only one job on exactly three GPUs uses all that can be used, it runs without any generation."""
    rates = [Rate(batch_size=3, gpus=3, samples_per_second=1.0)]
    awkward = job("awkward", batch_limit=3, local_limit=1, throughput=Tabulated(rates=rates), remaining=1e6)
    small = job("small", batch_limit=2, local_limit=2, remaining=1)
    problem = Batching(gpus=3, jobs=[small, awkward], forced="none")
    for seed in range(8):
        solution = solved(evolution(problem, generations=0, seed=seed))
        assert {name: grant.gpus for name, grant in solution.running.items()} == {"awkward": 3}


def test_what_runs_is_a_candidate() -> None:
    """Where a change costs more than it can save nothing changes, even without any generation."""
    jobs = [
        job(name, local_limit=128, remaining=remaining, previous_gpus=gpus)
        for name, remaining, gpus in [("a", 900.0, 3), ("b", 800.0, 1), ("c", 700.0, 0)]
    ]
    problem = Batching(gpus=4, jobs=jobs, forced="none", reconfiguration=1e6)
    solution = solved(evolution(problem, generations=0))

    assert {name: grant.gpus for name, grant in solution.running.items()} == {"a": 3, "b": 1}


def test_the_judge_scores_by_the_estimate() -> None:
    """Drawn samples guide the search only; what is said of the result is the problem's own objective."""
    progress = {"a": Progress(alpha=300, beta=200.0, processed=100_000)}
    progress["b"] = progress["a"].model_copy(update={"beta": 2000.0})
    jobs = [job(name, local_limit=128, remaining=None, progress=each) for name, each in progress.items()]
    problem = Batching(gpus=4, jobs=jobs, forced="none")
    result = evolution(problem, draws=True, generations=50, mutation_rate=0.3)

    assert result.solution is not None
    assert result.objective == problem.objective(result.solution)
    assert set(result.solution.running) == {"a"}


def test_a_comparison_holds_it_against_the_optimum() -> None:
    """Beside an exact method its gap is that to the proven optimum, and 0 here; one below would be an error."""
    problem = batching.draw(Random("optimum 1"))
    compared = gsopt.compare(problem, methods=["exact", evolution])
    found = compared.rows[1]

    assert found.method == "evolution"
    assert found.optimum_known
    assert found.gap == 0


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"generations": -1}, "generations: -1: must be at least 0"),
        ({"mutation_rate": 1.5}, "mutation_rate: 1.5: input should be less than or equal to 1"),
        ({"population": 0}, "population: 0: input should be greater than or equal to 1"),
        ({"preempts": "all"}, "preempts: 'all': input should be 'jobs' or 'workers'"),
        ({"engine": "numba"}, "engine: 'numba': must be one of vectorised, deap"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], reason: str) -> None:
    """What is out of range is named in one line."""
    with pytest.raises(InvalidInput) as raised:
        evolution(Batching(gpus=1, jobs=[]), **options)

    assert str(raised.value) == reason


def test_more_candidates_than_memory_are_refused() -> None:
    """A population of one candidate per GPU is refused on so many GPUs that no memory holds it."""
    with pytest.raises(Unsupported, match="100,000 candidates of 100,000 GPUs are too many"):
        evolution(Batching(gpus=100_000, jobs=[job()], use="any"))


def test_no_generation_begins_without_time() -> None:
    """Candidates that one generation could not go through are refused, and enough time changes nothing."""
    problem = elastic_jobs(gpus=16, jobs=12, seed=1)
    assert (
        evolution(problem, generations=5, budget=Budget(time_limit=PATIENCE)).solution
        == evolution(problem, generations=5).solution
    )
    late = evolution(problem, budget=Budget(time_limit=0))
    assert (late.solution, late.message) == (None, "16 candidates of 16 GPUs take longer than 0 s")
    table = CostTable.of(["a", "b"], [[0, 4, 6, 9], [0, 3, 5, 5]], weight=[2, 1])
    some, none = evolve(table, 5), evolve(table, 5, budget=Budget(time_limit=0))
    assert (len(some.logbook), len(none.logbook)) == (6, 1)
