"""The bound by priced time in its plainest form: below the optimum, and close to it at good prices."""

from fractions import Fraction
from random import Random

import pytest

from gsopt.core.numbers.hull import concave_hull
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.schedule.bounds.prices import price_bound
from tests.exactness import prices, segments
from tests.exactness.prices import Row

#: Part by which a linear program in doubles may be wrong.
ERROR = 1e-8


@pytest.mark.parametrize("seed", range(20))
def test_no_price_exceeds_the_optimum(seed: int) -> None:
    """Whatever the prices, drawn or improved, no schedule costs less than the bound."""
    random, scenario, weights = prices.drawn(seed)
    grid, drawn = prices.draw_prices(random, scenario)
    improved = prices.climb(scenario, weights, grid, drawn, 10)
    best = prices.optimum(scenario, weights)
    found = [prices.bound(scenario, weights, grid, each).value for each in (drawn, improved)]

    assert found[0] <= found[1] <= best * (1 + ERROR)


@pytest.mark.parametrize("seed", range(10))
def test_bound_is_what_its_prices_prove(seed: int) -> None:
    """It is nowhere above what its prices prove in fractions, hardly below, and rises with the evaluations."""
    _, scenario, drawn = prices.drawn(seed)
    weights = [weight or Fraction(1, 2) for weight in drawn]
    given = [float(weight) for weight in weights]
    found = [price_bound(scenario, weights=given, evaluations=number, compiled=False) for number in (2, 12)]
    exact = [prices.proven(scenario, weights, each) for each in found]
    best = prices.optimum(scenario, weights) - float(prices.waited(scenario, weights))

    assert found[0].total_jct <= found[1].total_jct <= best * (1 + ERROR)
    for each, value in zip(found, exact, strict=True):
        assert Fraction(each.total_jct) <= value
        assert each.total_jct == pytest.approx(float(value), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("compiled", [False, True])
def test_long_clocks_prove_no_more(compiled: bool) -> None:
    """Where a job is released so late that the clock tells ticks of 0.1 ms, rounding is taken off the bound."""
    wide = [(6, 34.0680624552394), (194432, 0.1627433396159397), (427314, 1.0)]
    even = [(203922, 1.0), (326072, 1.0), (938379, 1.0)]
    jobs = [
        Job(name="a", release_date=1e9, duration=4.270449823807954, gpus=203922, menu=even),
        Job(name="b", release_date=1e9, duration=7.52740200634498, gpus=4),
        Job(name="c", release_date=999999999999.9044, duration=8.192623879621017, gpus=427314, menu=wide),
    ]
    scenario = Scenario(workload=Workload(jobs=jobs), cluster=Cluster.plain(10_000_000))
    weights = [1.0, 71.9253052713658, 910570279.6584463]
    found = price_bound(scenario, weights=weights, evaluations=1, compiled=compiled)

    assert Fraction(found.total_jct) <= prices.proven(scenario, [Fraction(each) for each in weights], found)


def test_good_prices_come_close() -> None:
    """Two equal jobs on one GPU: a second is worth a half in the first cell, where one of them has to wait."""
    jobs = [Job(name=name, release_date=0, duration=1, gpus=1) for name in "ab"]
    scenario = Scenario(workload=Workload(jobs=jobs), cluster=Cluster.plain(1))
    ones = [Fraction(1)] * 2
    found = prices.bound(
        scenario, ones, [Fraction(0), Fraction(1), Fraction(2)], {Row(): [Fraction(1), Fraction(0)]}
    )

    assert found.value == 3 == prices.optimum(scenario, ones)
    assert sum(found.excess[Row()]) == 0


def test_groups_count_what_a_pair_leaves_unused() -> None:
    """Jobs on 2 of 3 GPUs exclude each other, which only the price of pairs can tell."""
    jobs = [Job(name=name, release_date=0, duration=1, gpus=2) for name in "ab"]
    scenario = Scenario(workload=Workload(jobs=jobs), cluster=Cluster.plain(3))
    ones, grid = [Fraction(1)] * 2, [Fraction(0), Fraction(1), Fraction(2)]
    single = [
        prices.bound(scenario, ones, grid, {Row(): [Fraction(cents, 100), Fraction(0)]}).value
        for cents in range(101)
    ]

    assert prices.optimum(scenario, ones) == pytest.approx(3)
    assert max(single) < 3
    assert prices.bound(scenario, ones, grid, {Row(group=2): [Fraction(1), Fraction(0)]}).value == 3


def test_optimum_waits_for_the_gpus() -> None:
    """A job stands still while no GPU is there."""
    job = Job(name="a", release_date=0, duration=2, gpus=1)
    changes = [CapacityChange(time=1, gpus=0), CapacityChange(time=8, gpus=1)]
    scenario = Scenario(workload=Workload(jobs=[job]), cluster=Cluster.plain(1), capacity_changes=changes)

    assert prices.optimum(scenario, [Fraction(3)]) == pytest.approx(27)


@pytest.mark.parametrize("seed", range(40))
def test_hull_is_the_one_in_fractions(seed: int) -> None:
    """A menu's hull has the corners and steps of one that is computed without rounding."""
    random = Random(seed)
    demand = 2 ** random.randint(0, 3)
    others = random.sample(range(1, random.choice((10, 65))), random.randint(0, 8))
    linear = random.random() < 0.3
    speeds = {count: count / demand if linear else random.randint(1, 64) / 8 for count in others} | {
        demand: 1.0
    }
    job = Job(name="a", release_date=0, duration=1, gpus=demand, menu=list(speeds.items()))

    assert [tuple(step) for step in concave_hull(speeds.items())] == [
        tuple(step) for step in segments.hull(job)
    ]
