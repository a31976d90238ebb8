"""Bounds from prices: valid for any prices, rounded up to what can be, zone by zone where zones are apart."""

import numpy as np
import pytest
from hypothesis import given, settings

from formulations.placement.bounds import Prices, better_than, lagrange, round_up
from formulations.placement.linear import solve_relaxation
from formulations.placement.maximal import maximal_patterns
from formulations.placement.packing import Packing, Reals
from gsopt.core.budget import Budget
from gsopt.problems.placement import Placement, Resources, Server, Workers
from gsopt.testing import brute_force
from instances.placement import elastic, vectors
from tests.effort import cases
from tests.strategies.placement import placements


def prices(packing: Packing, worth: Reals) -> Prices:
    """Return prices with what the maximal patterns are worth at them."""
    patterns = maximal_patterns(packing, limit=10_000, budget=Budget())
    assert patterns is not None
    most = np.zeros((len(packing.zones), len(packing.kinds)))
    np.maximum.at(most, (patterns.zone, patterns.kind), (patterns.counts * worth[patterns.zone]).sum(axis=1))
    return Prices(worth, most)


def optimal_prices(packing: Packing) -> tuple[float, Prices]:
    """Return the relaxation's value and prices."""
    patterns = maximal_patterns(packing, limit=10_000, budget=Budget())
    assert patterns is not None
    relaxed = solve_relaxation(packing.form(patterns), Budget())
    assert relaxed is not None
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
@settings(deadline=None, max_examples=40)
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
    unknown = Prices(np.ones((len(packing.zones), len(packing.demands))), np.full(shape, np.inf))

    assert lagrange(packing, unknown) == -np.inf
    assert better_than(packing, unknown, 10**6) == packing.floor
