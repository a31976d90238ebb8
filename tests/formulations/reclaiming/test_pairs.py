"""The bound from pairs of servers that share jobs."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import inf
from random import Random

import numpy as np
import pytest

import gsopt
from formulations.reclaiming.hull import hull
from formulations.reclaiming.pairs import Quadratic, pairs_bound
from formulations.reclaiming.reduction import Reduction, ServerGroup, reduce
from gsopt.core.budget import Budget
from gsopt.core.result import StoppedBy
from instances.reclaiming import server_uniform
from tests.effort import cases


def _drawn(seed: int) -> Reduction:
    """Draw up to eight servers, some alike, with costs of their own, and jobs of one magnitude or of many."""
    random = Random(seed)
    jobs = random.randint(1, 9)
    kind = random.choice(("equal", "few", "magnitudes", "large"))

    def draw() -> int:
        return {
            "equal": 1,
            "few": random.randint(1, 5),
            "magnitudes": random.choice((1, 10**9, 10**18)),
            "large": random.randint(1, 10**30),
        }[kind]

    groups, place = list[ServerGroup](), 0
    while place < 8 and (not groups or random.random() < 0.9):
        alike = min(random.choice((1, 1, 1, 2, 3)), 8 - place)
        own = random.choice((0, 0, 1, draw()))
        hosted = tuple(sorted(random.sample(range(jobs), random.randint(0, min(jobs, 5)))))
        groups.append(ServerGroup(tuple(range(place, place + alike)), own, hosted))
        place += alike
    paid = random.choice((0, 7))
    demand = random.randint(0, place)
    return Reduction(demand, tuple(draw() for _ in range(jobs)), tuple(groups), paid=paid)


def _values(reduction: Reduction) -> dict[tuple[int, ...], int]:
    """Return the value of every choice of servers, computed from the data."""
    hosts = [(group.cost, group.jobs) for group in reduction.groups for _ in group.servers]
    return {
        chosen: reduction.paid
        + sum(hosts[server][0] for server in chosen)
        + sum(reduction.weights[job] for job in {job for server in chosen for job in hosts[server][1]})
        for chosen in combinations(range(len(hosts)), reduction.demand)
    }


def test_no_choice_is_below_the_bound() -> None:
    """On problems of every magnitude, the bound is at most the value of every choice."""
    raised, number = 0, cases(1000)
    for seed in range(number):
        reduction = _drawn(seed)
        bound = pairs_bound(reduction, Budget())
        assert bound <= min(_values(reduction).values())
        raised += bound > reduction.paid
    assert raised > number / 5


@pytest.mark.parametrize("hundred", range(3))
def test_the_function_is_below_every_value(hundred: int) -> None:
    """Before it is made convex, the quadratic function is at most the value of each choice, for any spread."""
    for seed in range(100 * hundred, 100 * hundred + 100):
        reduction = _drawn(seed)
        if not reduction.demand:
            continue
        for spread in (0.0, 1.3, 9.0):
            quadratic = Quadratic.of(reduction, spread)
            unit = Fraction(max(reduction.weights), 2**21)
            for chosen, value in _values(reduction).items():
                taken = np.zeros(len(quadratic.linear), dtype=object)
                taken[list(chosen)] = 1
                worth = quadratic.linear @ taken - taken @ quadratic.pairs.astype(object) @ taken
                assert worth * unit <= value - reduction.paid


@pytest.mark.parametrize("seed", range(100))
def test_any_weights_and_any_point_give_a_bound(seed: int) -> None:
    """The weights and the point are only advice: whatever they are, the certified number is a bound."""
    reduction, random = _drawn(seed), np.random.default_rng(seed)
    if not reduction.demand:
        return
    least = min(_values(reduction).values()) - reduction.paid
    quadratic = Quadratic.of(reduction, 1.3)
    servers = len(quadratic.linear)
    for factor in (0.0, 0.5, 1.0, 3.0):
        weights = factor * quadratic.least_weights(random.random(servers) + 0.1)
        point = random.random(servers) * random.choice((0.3, 1.0, 4.0))
        assert quadratic.certified(weights, point) * max(reduction.weights) <= least


@pytest.mark.parametrize("seed", range(60))
def test_the_convex_function_is_the_same_on_choices_and_is_convex(seed: int) -> None:
    """What is added cancels out on every choice, and no vector of a few digits makes the square negative."""
    reduction, random = _drawn(seed), np.random.default_rng(seed)
    if not reduction.demand:
        return
    quadratic = Quadratic.of(reduction, 1.3)
    servers = len(quadratic.linear)
    found = quadratic.convex(quadratic.least_weights(np.ones(servers)))
    assert found is not None
    matrix, added, squared = (np.array(each, dtype=object) for each in found)
    for chosen in combinations(range(servers), reduction.demand):
        taken = np.zeros(servers, dtype=object)
        taken[list(chosen)] = 1
        more = added @ taken + squared * reduction.demand**2
        assert taken @ matrix @ taken == more - taken @ quadratic.pairs.astype(object) @ taken
    for _ in range(50):
        vector = random.integers(-1000, 1000, servers).astype(object)
        assert vector @ matrix @ vector >= 0
    low = np.linalg.eigh(matrix.astype(float))[1][:, 0]
    vector = np.array([round(each * 2**30) for each in low], dtype=object)
    assert vector @ matrix @ vector >= 0


def test_what_floats_take_for_convex_is_corrected() -> None:
    """Fibonacci numbers make matrices of determinant -1, which a factorization in floats takes for convex."""
    corrected, numbers = 0, [1, 1]
    while numbers[-1] < 2**36:
        numbers.append(numbers[-1] + numbers[-2])
    for low, mid, high in zip(numbers, numbers[1:], numbers[2:], strict=False):
        matrix = np.array([[low, mid], [mid, high]])
        if low * high - mid * mid > 0:
            continue
        found = Quadratic(1, np.array([0, 0], dtype=object), 1 - matrix).convex(np.zeros(2))
        if found is None or found[2] != 1:
            continue
        bad = np.array([mid, -low], dtype=object)
        assert bad @ found[0].astype(object) @ bad >= 0
        corrected += 1
    assert corrected


def test_what_is_paid_in_any_case_is_added() -> None:
    """A bound of a problem with 7 to pay in any case is 7 higher."""
    reduction = reduce(server_uniform(servers=20, jobs=20, degree=4, demand=5, seed=1)).net()
    assert pairs_bound(replace(reduction, paid=7), Budget()) == pairs_bound(reduction, Budget()) + 7


def test_pairs_say_more_than_shares_on_random_servers() -> None:
    """Where each server hosts 8 of 60 random jobs, the bound is more than 1.4 times that of the hull."""
    reduction = reduce(server_uniform(servers=60, jobs=60, degree=8, demand=20, seed=3)).net()
    assert pairs_bound(reduction, Budget()) > 1.4 * hull(reduction, Budget()).shares.bound


def test_equal_servers_are_bounded_exactly() -> None:
    """Servers that each host one job of their own cost one job each, which the tangent finds."""
    servers = tuple(ServerGroup((number,), 0, (number,)) for number in range(6))
    assert pairs_bound(Reduction(4, (5,) * 6, servers), Budget()) in (19, 20)


def test_without_time_or_with_too_many_servers_there_is_no_bound() -> None:
    """No time left, more servers than the limit, and no jobs: the bound is 0."""
    reduction = reduce(server_uniform(servers=20, jobs=20, degree=4, demand=5, seed=1)).net()
    assert pairs_bound(reduction, Budget(time_limit=0)) == 0
    many = Reduction(5, (1,), tuple(ServerGroup((number,), number, (0,)) for number in range(401)))
    assert pairs_bound(many, Budget()) == 0
    assert pairs_bound(Reduction(1, (), (ServerGroup((0, 1), 0, ()),)), Budget()) == 0


def test_the_exact_method_uses_the_bound() -> None:
    """Within two seconds, the gap of the smaller challenge is below 30 percent."""
    result = gsopt.solve(gsopt.load("reclaiming/challenge/expander-060"), time_limit=2)
    assert result.stopped_by is StoppedBy.TIME_LIMIT
    assert (result.gap or inf) < 0.3
