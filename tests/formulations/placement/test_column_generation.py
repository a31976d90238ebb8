"""Column generation for placement: pricing, prices and bounds."""

import numpy as np
import pytest
from hypothesis import given, settings

from formulations.placement import column_generation
from formulations.placement.bounds import WorkerPrices, better_than, lagrange, round_up
from formulations.placement.generation import Generation, Relaxed
from formulations.placement.labels import LabelPricing
from formulations.placement.layers import extend, fitting
from formulations.placement.linear import solve_relaxation
from formulations.placement.master import Master
from formulations.placement.maximal import maximal_patterns
from formulations.placement.multipliers import multipliers
from formulations.placement.packing import FillPatterns, Integers, Packing, Reals
from formulations.placement.pricers import pricer
from formulations.placement.table import WorthTable
from gsopt.core.budget import Budget
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.placement import Placement, Resources, Server, Workers
from gsopt.solvers.backends import Highs
from gsopt.solvers.standard_form import StandardForm
from gsopt.testing import brute_force
from instances.placement import elastic, vectors
from tests.effort import cases
from tests.strategies.fillings import best_worth
from tests.strategies.placement import committed, placements
from tests.unwrap import unwrap


@given(placements())
@settings(deadline=None, max_examples=cases(40, least=14))
def test_the_bound_holds_whenever_it_stops(problem: Placement) -> None:
    """Without any time the bound is at most the optimum, and what is found is at least the optimum."""
    best = brute_force(problem)
    result = column_generation(problem, time_limit=0.0)
    if best is not None:
        assert unwrap(result.bound) <= best[0]
        assert result.objective is None or result.objective >= best[0]


@pytest.mark.parametrize("types", [20, 50])
def test_dozens_of_types(types: int) -> None:
    """With 20 and with 50 types the value is within two servers of the bound."""
    result = column_generation(vectors(types=types, workers=1500, skew=0.5, seed=types))
    assert unwrap(result.objective) - unwrap(result.bound) <= 2
    assert "patterns generated" in result.message


def test_partly_used_servers_of_hundreds_of_kinds() -> None:
    """With every server partly used in its own way the optimum is proven too."""
    problem = vectors(types=10, workers=300, training=60, inference=60, occupied=1.0, seed=3)
    result = column_generation(problem)
    assert result.status is Status.OPTIMAL


def test_preferences_with_jobs_that_are_not_split() -> None:
    """With 420 jobs that stay together the optimum is proven."""
    assert column_generation(elastic(seed=3)).status is Status.OPTIMAL


def test_fine_amounts_are_priced_by_programs() -> None:
    """Thousandths of GPUs and cores, and MiB, are too fine for a table; the gap is closed all the same."""
    node = Server(name="n", count=40, capacity=Resources(gpu=4_000, cpu=64_001, memory=262_143))
    demands = [(460, 6_001, 12_289), (1_000, 11_300, 49_151), (2_000, 31_999, 24_577)]
    pods = [
        Workers(job=f"j{index}", count=20, demand=Resources(gpu=gpu, cpu=cpu, memory=memory))
        for index, (gpu, cpu, memory) in enumerate(demands)
    ]
    problem = Placement(servers=[node], workers=pods)
    result = column_generation(problem)

    assert result.status is Status.OPTIMAL
    assert result.objective == 18


def test_the_seed_decides() -> None:
    """The same seed gives the same placement."""
    problem = vectors(types=30, workers=400, seed=1)
    assert column_generation(problem, seed=5).solution == column_generation(problem, seed=5).solution


def test_a_time_limit_is_named() -> None:
    """A run without time says that the limit stopped it, and a finished one that it finished."""
    problem = vectors(types=30, workers=400, seed=1)
    assert column_generation(problem, time_limit=0.0).stopped_by is StoppedBy.TIME_LIMIT
    assert column_generation(problem).stopped_by is StoppedBy.FINISHED


def generated(problem: Placement, *, limit: float | None = None) -> tuple[Packing, Relaxed]:
    """Generate patterns for a problem."""
    packing = Packing.of(problem)
    pricers = tuple(pricer(packing, zone) for zone in packing.zones)
    return packing, Generation(packing, pricers, Budget(time_limit=limit)).run(
        FillPatterns.of((), len(packing.demands))
    )


@pytest.mark.parametrize(
    "problem",
    [
        vectors(types=6, workers=600, seed=1),
        vectors(types=6, workers=400, occupied=0.3, seed=2),
        vectors(types=6, workers=600, minimize="fragmentation", seed=3),
        elastic(jobs=200, seed=4),
        elastic(jobs=200, split_jobs=True, elastic_share=0.9, seed=5),
    ],
    ids=["servers", "occupied", "fragmentation", "whole jobs", "preferences"],
)
def test_the_bound_is_the_relaxation_over_all_patterns(problem: Placement) -> None:
    """The rounded bound is that of the relaxation over all maximal patterns."""
    packing, relaxed = generated(problem)
    every = unwrap(maximal_patterns(packing, limit=20_000, budget=Budget()))
    best = float(unwrap(Highs().solve(packing.form(every).relaxation).objective))

    assert round_up(packing, relaxed.bound) == round_up(packing, best - 1e-6)
    assert relaxed.bound <= best + 1e-6 * max(1.0, abs(best))
    assert relaxed.value >= relaxed.bound - 1e-6 * max(1.0, abs(best))


@given(placements())
@settings(deadline=None, max_examples=cases(80))
def test_infeasible_relaxations_are_proven(problem: Placement) -> None:
    """A relaxation that generation calls infeasible is infeasible over all maximal patterns."""
    if problem.misfit:
        return
    packing, relaxed = generated(problem)
    every = unwrap(maximal_patterns(packing, limit=10_000, budget=Budget()))
    whole = Highs().solve(packing.form(every).relaxation).objective

    assert relaxed.infeasible or relaxed.optimum is not None
    if relaxed.infeasible:
        assert whole is None


def test_too_many_workers() -> None:
    """Three workers of 5 GPUs on two servers of 8 are infeasible already in the relaxation."""
    _, relaxed = generated(committed("small/too-many-workers"))
    assert relaxed.infeasible
    assert relaxed.stopped_by is StoppedBy.FINISHED


def test_without_time_nothing_is_known() -> None:
    """Without time there is neither an optimum nor a proof."""
    _, relaxed = generated(vectors(types=10, workers=100), limit=0.0)
    assert (relaxed.optimum, relaxed.infeasible, relaxed.stopped_by) == (None, False, StoppedBy.TIME_LIMIT)


@pytest.mark.parametrize(
    "problem",
    [vectors(types=5, workers=300), elastic(jobs=60), vectors(types=5, workers=300, minimize="fragmentation")],
    ids=["servers", "preferences", "fragmentation"],
)
def test_patterns_may_be_added_in_parts(problem: Placement) -> None:
    """The optimum is that of the standard form over all patterns, in whatever parts they were added."""
    packing = Packing.of(problem)
    every = unwrap(maximal_patterns(packing, limit=10_000, budget=Budget()))
    master = Master(packing)
    first = np.arange(len(every)) % 2 == 0
    master.add(every.only(first))
    master.solve(Budget(), counting_cost=False)
    master.add(every.only(~first))
    found, whole = unwrap(master.solve(Budget())), unwrap(solve_relaxation(packing.form(every), Budget()))

    assert found.objective == pytest.approx(whole.objective)
    assert found.values.size == packing.moves + len(every)


def test_who_finds_no_place_is_counted() -> None:
    """Of three workers on two servers one finds no place, and without all there is no optimum."""
    packing = Packing.of(committed("small/too-many-workers"))
    master = Master(packing)
    master.add(FillPatterns.of([(0, 0, [1])], 1))
    missing = unwrap(master.solve(Budget(), counting_cost=False))

    assert missing.objective == pytest.approx(1.0)
    assert master.solve(Budget()) is None


def test_other_workers_may_be_asked_for() -> None:
    """With fewer workers fewer servers are needed."""
    packing = Packing.of(vectors(types=2, workers=60))
    master = Master(packing)
    every = unwrap(maximal_patterns(packing, limit=10_000, budget=Budget()))
    master.add(every)
    before = master.solve(Budget())
    master.demand(np.array([1, 0]), packing.limits)
    after = unwrap(master.solve(Budget()))

    assert before is not None
    assert after.objective <= 1.0 < before.objective


def test_the_pricer_follows_the_amounts() -> None:
    """Cores and GB fit a table, thousandths and MiB do not, and a zone without servers needs nothing."""
    coarse = Packing.of(vectors(types=3, workers=900))
    fine = Packing.of(
        Placement(
            servers=(Server(name="s", capacity=Resources(gpu=8000, cpu=96_001, memory=400_003)),),
            workers=(
                Workers(job="a", count=200, demand=Resources(gpu=470, cpu=3_001, memory=7)),
                Workers(job="b", count=200, demand=Resources(gpu=1000, cpu=4_000, memory=10)),
            ),
        )
    )
    one_pool = Packing.of(elastic(jobs=3, inference=0, training=20))

    assert isinstance(pricer(coarse, coarse.zones[0]), WorthTable)
    assert isinstance(pricer(fine, fine.zones[0]), LabelPricing)
    assert pricer(one_pool, one_pool.zones[1]) is None


def test_single_workers_are_no_crowd() -> None:
    """Where there is one worker of each demand a table would count workers that do not exist."""
    packing = Packing.of(vectors(types=30, workers=30, training=30, inference=0))
    assert isinstance(pricer(packing, packing.zones[0]), LabelPricing)


FOREVER = Budget()


@pytest.mark.parametrize("seed", range(cases(60)))
def test_the_best_filling_is_found(seed: int) -> None:
    """For one to five resources the bound of every room is the value of enumeration, or its rent where less."""
    random = np.random.default_rng(seed)
    resources = 1 + seed % 5
    demands = random.integers(0, 9_000, size=(5, resources)) + 1
    rooms = random.integers(9_000, 20_000, size=(2, resources))
    worth = np.where(random.random(5) < 0.8, random.random(5), 0.0)
    rents, totals = random.random(2) * seed / 60, random.integers(1, 4, size=5)
    priced = LabelPricing(demands, rooms, totals)(worth, rents, budget=FOREVER)
    best = [enumerated(demands, worth, room, totals) for room in rooms]

    assert (priced.most >= np.array(best) - 1e-9).all()
    assert priced.most.tolist() == pytest.approx(np.maximum(best, rents).tolist())
    for room, counts in zip(priced.room, priced.counts, strict=True):
        assert (counts @ demands <= rooms[room]).all()
        assert (counts <= totals).all()
        assert worth @ counts > rents[room]
    paying = {room for room in range(2) if best[room] > rents[room] + 1e-6}
    assert set(priced.room) == paying


def enumerated(demands: Integers, worth: Reals, room: Integers, totals: Integers) -> float:
    """Find the most that a filling is worth with no more workers than there are."""
    single = np.repeat(np.arange(len(demands)), totals)
    return best_worth(demands[single], worth[single], room, 1)


@pytest.mark.parametrize("resources", [1, 3])
def test_bounds_hold_where_few_fillings_are_followed(resources: int) -> None:
    """Where only ten fillings go on the bound is still above all, and what is found is a filling."""
    for seed in range(cases(20)):
        random = np.random.default_rng(seed)
        demands = random.integers(1, 400, size=(12, resources))
        rooms, totals = np.full((1, resources), 1_000), np.ones(12, dtype=np.int64)
        worth = random.random(12)
        priced = LabelPricing(demands, rooms, totals, widths=(10,))(worth, np.zeros(1), budget=FOREVER)

        assert priced.most[0] >= best_worth(demands, worth, rooms[0], 1) - 1e-9
        assert all((counts @ demands <= 1_000).all() for counts in priced.counts)


def test_without_time_there_is_a_bound() -> None:
    """Without time there is no filling, and a bound that holds."""
    priced = LabelPricing(np.array([[4], [3]]), np.array([[8]]), np.array([1, 9]))(
        np.array([0.5, 0.4]), np.zeros(1), budget=Budget(time_limit=0.0)
    )
    assert priced.counts == []
    assert priced.most[0] >= 0.9


def test_hundreds_of_sizes_on_a_fine_capacity() -> None:
    """With 200 sizes on a capacity of 100,000 the best filling is found, though there are millions."""
    random = np.random.default_rng(1)
    demands = random.integers(20_000, 35_000, size=(200, 1))
    worth = demands[:, 0] / 100_000 + random.random(200) * 0.01
    priced = LabelPricing(demands, np.array([[100_000]]), np.ones(200, dtype=np.int64), widths=(50_000,))(
        worth, np.array([0.99]), budget=FOREVER
    )

    best = max(worth @ counts for counts in priced.counts)
    assert best == pytest.approx(priced.most[0])


def test_every_number_that_fits_is_one_extension() -> None:
    """Fillings are extended by every number of workers up to what fits, in all resources."""
    free, need = np.array([[8, 5, 1], [9, 9, 9]]), np.array([2, 3])
    holds = fitting(free, need, most=9)
    parents, numbers, left = extend(free, need, holds)

    assert holds.tolist() == [3, 2, 0]
    assert sorted(zip(parents.tolist(), numbers.tolist(), strict=True)) == [
        *((0, number) for number in range(4)),
        *((1, number) for number in range(3)),
        (2, 0),
    ]
    assert (left == free[:, parents] - need[:, np.newaxis] * numbers).all()


def test_resources_that_are_not_needed_do_not_limit() -> None:
    """A need of 0 fits wherever the others do."""
    assert fitting(np.array([[0, 0], [4, 1]]), np.array([0, 2]), most=5).tolist() == [2, 0]


@pytest.mark.parametrize("seed", range(10))
def test_they_bound_every_filling(seed: int) -> None:
    """Resources at their multipliers and workers beyond them are worth at least the best filling."""
    random = np.random.default_rng(seed)
    demands, room = random.integers(1, 9, size=(8, 1 + seed % 4)), np.full(1 + seed % 4, 20)
    worth, totals = random.random(8), np.ones(8, dtype=np.int64)
    prices = multipliers(demands, room, totals, worth, Budget())
    bound = prices @ room + np.maximum(worth - demands @ prices, 0).sum()

    assert (prices >= 0).all()
    assert best_worth(demands, worth, room, 1) <= bound + 1e-9
    assert bound <= worth.sum() + 1e-9


def test_without_time_they_are_zero() -> None:
    """Without time they bound nothing but the sum of all."""
    demands, ones = np.ones((3, 2), dtype=np.int64), np.ones(3, dtype=np.int64)
    prices = multipliers(demands, demands[0], ones, np.ones(3), Budget(time_limit=0.0))
    assert prices.shape == (2,)
    assert (prices >= 0).all()


@pytest.mark.parametrize("seed", range(25))
def test_the_table_finds_the_best_filling(seed: int) -> None:
    """For random demands, some without GPU, and random rooms the table gives the value of enumeration."""
    random = np.random.default_rng(seed)
    demands = np.unique(random.integers((0, 1, 0), (3, 6, 4), size=(4, 3)), axis=0)
    rooms = random.integers(0, (6, 9, 7), size=(3, 3))
    worth = np.where(random.random(len(demands)) < 0.8, random.random(len(demands)), 0.0)
    priced = WorthTable(demands, rooms)(worth, np.zeros(3), budget=FOREVER)

    assert priced.most == pytest.approx([best_worth(demands, worth, room, 9) for room in rooms])
    for room, counts in zip(priced.room, priced.counts, strict=True):
        assert (counts @ demands <= rooms[room]).all()
    best = np.zeros(3)
    np.maximum.at(best, priced.room, [worth @ counts for counts in priced.counts])
    assert best.tolist() == pytest.approx(priced.most.tolist())


def test_the_table_gives_fillings_that_pay() -> None:
    """Only fillings worth more than their rent are given, the best first, and no more than asked for."""
    demands, rooms = np.array([[4], [3]]), np.array([[8], [3]])
    worth, rents = np.array([0.5, 0.4]), np.array([0.85, 0.5])
    priced = WorthTable(demands, rooms)(worth, rents, budget=FOREVER)

    assert [(room, counts.tolist()) for room, counts in zip(priced.room, priced.counts, strict=True)] == [
        (0, [2, 0]),
        (0, [2, 0]),
        (0, [1, 1]),
    ]
    assert priced.most.tolist() == [1.0, 0.4]
    assert len(WorthTable(demands, rooms, most_fillings=1)(worth, rents, budget=FOREVER).counts) == 1


def test_table_without_time_nothing_is_known() -> None:
    """Without time there is no filling and no bound."""
    priced = WorthTable(np.array([[4], [3]]), np.array([[8]]))(
        np.ones(2), np.zeros(1), budget=Budget(time_limit=0.0)
    )
    assert (priced.counts, priced.most.tolist()) == ([], [np.inf])


def test_it_agrees_with_the_backend() -> None:
    """Value and duals of a random covering program are those of HiGHS in its own process."""
    random = np.random.default_rng(3)
    form = StandardForm.build(
        cost=random.integers(1, 9, 12),
        matrix=random.integers(0, 3, (5, 12)) + np.eye(5, 12),
        row_lower=np.full(5, 7),
        row_upper=np.full(5, np.inf),
        offset=2.0,
    )
    here, there = unwrap(solve_relaxation(form, Budget())), Highs().solve(form.relaxation)

    assert np.isclose(here.objective, float(unwrap(there.objective)))
    assert np.isclose(here.duals @ form.row_lower + form.offset, here.objective)


def test_without_an_optimum_there_is_none() -> None:
    """A program without points has no optimum."""
    impossible = StandardForm.build(cost=[1], matrix=[[1]], row_lower=[2], row_upper=[2], column_upper=[1])
    assert solve_relaxation(impossible, Budget()) is None


def prices(packing: Packing, worth: Reals) -> WorkerPrices:
    """Return prices with what the maximal patterns are worth at them."""
    patterns = unwrap(maximal_patterns(packing, limit=10_000, budget=Budget()))
    most = np.zeros((len(packing.zones), len(packing.kinds)))
    np.maximum.at(most, (patterns.zone, patterns.kind), (patterns.counts * worth[patterns.zone]).sum(axis=1))
    return WorkerPrices(worth, most)


def optimal_prices(packing: Packing) -> tuple[float, WorkerPrices]:
    """Return the relaxation's value and prices."""
    patterns = unwrap(maximal_patterns(packing, limit=10_000, budget=Budget()))
    relaxed = unwrap(solve_relaxation(packing.form(patterns), Budget()))
    return relaxed.objective, prices(packing, packing.worth(relaxed.duals))


@given(placements())
@settings(deadline=None, max_examples=cases(80))
def test_any_prices_prove_a_bound(problem: Placement) -> None:
    """With prices drawn at random no bound is above the optimum, nor above the known value where it is less."""
    best = brute_force(problem)
    if problem.misfit or best is None:
        return
    optimum = int(best[0])
    packing = Packing.of(problem)
    random = np.random.default_rng(problem.size)
    for scale in (0.1, 1.0, 20.0):
        drawn = prices(packing, scale * random.random((len(packing.zones), len(packing.demands))))
        assert lagrange(packing, drawn) <= optimum
        for known in (optimum, optimum + 1, optimum + 50):
            assert better_than(packing, drawn, known) <= optimum


@given(placements())
@settings(deadline=None, max_examples=cases(40, least=14))
def test_the_relaxations_prices_prove_its_value(problem: Placement) -> None:
    """At the prices of the optimal relaxation the bound is its value, and never above the optimum."""
    best = brute_force(problem)
    if problem.misfit or best is None:
        return
    packing = Packing.of(problem)
    value, optimal = optimal_prices(packing)

    assert lagrange(packing, optimal) == pytest.approx(value, abs=1e-6)
    assert round_up(packing, value - 1e-6) <= better_than(packing, optimal, int(best[0])) <= best[0]


def test_zones_that_are_apart_are_rounded_up_one_by_one() -> None:
    """Three kinds of workers that fill a third of a server each need three servers if nobody may move."""
    servers = (
        Server(name="t", count=2, capacity=Resources(gpu=8)),
        Server(name="i", count=3, pool="inference", capacity=Resources(gpu=8)),
    )
    need = Resources(gpu=1)
    lines = (
        Workers(job="a", count=2, demand=need),
        Workers(job="b", count=2, demand=need, kind="base"),
        Workers(job="b", count=2, demand=need, kind="flexible"),
    )
    packing = Packing.of(Placement(servers=servers, workers=lines, minimize="preferences"))
    value, optimal = optimal_prices(packing)

    assert round_up(packing, value - 1e-6) == 1
    assert better_than(packing, optimal, 5) == 3


def test_it_closes_the_gap_of_large_instances() -> None:
    """With 420 jobs that all fit into their pools the bound zone by zone is better than the relaxation's."""
    packing = Packing.of(elastic(seed=2))
    value, optimal = optimal_prices(packing)
    assert round_up(packing, value - 1e-6) == 848
    assert better_than(packing, optimal, 852) == 850


@pytest.mark.parametrize(("bound", "rounded"), [(3.0, 3), (3.0000001, 4), (3.01, 4), (2.9999999, 3)])
def test_bounds_are_rounded_up_to_whole_servers(bound: float, rounded: int) -> None:
    """A bound is rounded up; the rounding of its sums is none of its business."""
    assert round_up(Packing.of(vectors(types=2, workers=4)), bound) == rounded


def test_bounds_are_rounded_up_to_values_that_can_be() -> None:
    """Where every server has 8 GPUs fragmentation changes in steps of 8 from what the workers leave."""
    problem = Placement(
        minimize="fragmentation",
        servers=(Server(name="s", count=5, capacity=Resources(gpu=8)),),
        workers=(Workers(job="a", count=3, demand=Resources(gpu=3)),),
    )

    assert [round_up(Packing.of(problem), bound) for bound in (-1.0, 0.0, 6.9, 7.0, 7.1)] == [-1, 7, 7, 7, 15]


def test_unbounded_fillings_prove_the_floor() -> None:
    """Prices at which the worth of fillings is not known prove no more than is plain anyway."""
    packing = Packing.of(elastic(jobs=5))
    shape = len(packing.zones), len(packing.kinds)
    unknown = WorkerPrices(np.ones((len(packing.zones), len(packing.demands))), np.full(shape, np.inf))
    assert lagrange(packing, unknown) == -np.inf
    assert better_than(packing, unknown, 10**6) == packing.floor
