"""Two lists of partial choices, and the bound from divisibility, for cores with too many states."""

import sys
from fractions import Fraction
from itertools import combinations, product
from math import gcd
from random import Random

import numpy as np
import pytest

from formulations.allocation import core, dp, halves, lattice
from formulations.allocation.groups import Integers
from formulations.allocation.halves import meet
from formulations.allocation.knapsack import Knapsack
from formulations.allocation.lattice import lattice_basis, lattice_bound
from formulations.allocation.states import Improved
from gsopt.core.budget import Budget
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.allocation import AllocationSolution
from instances.allocation import multiple_choice
from tests.effort import cases
from tests.strategies.allocation import Impatient, medium, optimum, tiny


def _nothing_improved(knapsack: Knapsack, start: Integers, *_: object, **__: object) -> Improved:
    """Return the known choice and the price of the room, as if memory had run out at once."""
    excess = knapsack.price * knapsack.room - knapsack.worth(start)
    return Improved(start, excess, StoppedBy.FINISHED, full=True)


@pytest.fixture
def _only_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["formulations.allocation.core"], "improve", _nothing_improved)


def test_choices_that_do_not_fit_are_no_improvement() -> None:
    """If no two states of the lists fit, the known choice stays, however little it is worth."""
    first, weight, value = np.array([0, 2, 4]), np.array([0, 5, 0, 3]), np.array([0, 100, 0, 4])
    start = np.array([0, 3])
    knapsack = Knapsack.of(3, first, weight, value, Fraction(1), start)
    known = Improved(start, 90 * knapsack.factor, StoppedBy.FINISHED, full=True)
    assert meet(knapsack, known, Budget()).choice.tolist() == [0, 3]


@pytest.mark.usefixtures("_only_halves")
@pytest.mark.parametrize("hundred", range(cases(10)))
def test_two_lists_find_the_optimum_of_tiny_cores(hundred: int) -> None:
    """Without any other search, two complete lists prove the optimum of values of every magnitude."""
    for seed in range(100 * hundred, 100 * hundred + 100):
        problem = tiny(seed)
        result = core(problem)
        assert result.objective == optimum(problem), problem.name
        assert result.bound == result.objective


@pytest.mark.usefixtures("_only_halves")
@pytest.mark.parametrize("seed", range(cases(60)))
def test_two_lists_enclose_the_optimum_of_large_cores(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However short the lists are, value and bound enclose the optimum, and equal it if nothing is left out."""
    problem = medium(seed)
    best = dp(problem).objective
    assert best is not None
    for first, most in ((4, 4), (4, 256), (2**10, 2**12), (2**14, 2**22)):
        monkeypatch.setattr(halves, "_FIRST_SUMS", first)
        monkeypatch.setattr(halves, "MOST_SUMS", most)
        result = core(problem, time_limit=30)
        assert result.objective is not None
        assert result.bound is not None
        assert result.objective <= best <= result.bound


@pytest.mark.usefixtures("_only_halves")
def test_short_lists_leave_a_gap_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """With lists of a few states, the search gives up; the message says that memory was the reason."""
    monkeypatch.setattr(halves, "_FIRST_SUMS", 2**12)
    monkeypatch.setattr(halves, "MOST_SUMS", 2**12)
    problem = multiple_choice(classes=40, items=10, largest=900_000, correlation="weak", seed=1)
    result = core(problem)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.FINISHED)
    assert result.message.endswith("too many states to keep")


@pytest.mark.usefixtures("_only_halves")
@pytest.mark.parametrize("seed", range(20))
def test_two_lists_stop_when_asked(seed: int) -> None:
    """The time limit, a gap, and a callback that returns True end the search, with a bound that holds."""
    problem = medium(seed)
    best = dp(problem).objective
    assert best is not None
    for looks in (1, 4, 9, 30):
        late = core(problem, budget=Impatient(looks=[looks]))
        assert (late.objective or 0) <= best <= (late.bound or 0)
    near = core(problem, gap=0.02)
    assert (near.objective or 0) <= best <= (near.bound or 0)
    heard: list[Result[AllocationSolution]] = []
    assert core(problem, on_incumbent=heard.append).objective == best
    values = [found.objective or 0 for found in heard]
    assert values == sorted(set(values))
    stopped = core(problem, on_incumbent=lambda _: True)
    assert (stopped.objective or 0) <= best <= (stopped.bound or 0)
    assert not heard or stopped.stopped_by is StoppedBy.INTERRUPT


@pytest.mark.parametrize("classes", [20, 60])
@pytest.mark.parametrize("seed", [3, 4])
def test_strongly_correlated_values_are_proven(classes: int, seed: int) -> None:
    """With weights up to 900,000 and values of the weight plus ten, the optimum is proven in a few looks."""
    problem = multiple_choice(classes=classes, items=10, largest=900_000, correlation="strong", seed=seed)
    result = core(problem, budget=Impatient(looks=[20_000]))
    assert (result.status, result.bound) == (Status.OPTIMAL, result.objective)


def _knapsack(random: Random) -> Knapsack:
    """Draw a small knapsack whose weights and values share divisors, or whose values follow the weights."""
    unit, scale = random.choice((1, 2, 6)), random.choice((1, 1, 10**12))
    rule = random.choice(("free", "offset", "multiple"))
    weight, value, first = list[int](), list[int](), [0]
    for _ in range(random.randint(1, 4)):
        for number, each in enumerate([0, *sorted(random.sample(range(1, 12), random.randint(0, 3)))]):
            heavy = each * unit
            weight.append(heavy)
            drawn = {"free": random.randint(0, 20), "offset": heavy + 10 * number, "multiple": 3 * heavy}[rule]
            value.append(drawn * scale if number else 0)
        first.append(len(weight))
    capacity = random.randint(1, max(sum(weight) // 2, 1))
    price = random.choice((0, 1, random.randint(0, 40 * scale)))
    return Knapsack.of(
        capacity=capacity,
        first=np.array(first),
        weight=np.array(weight),
        value=np.array(value, dtype=object),
        price=Fraction(price, random.randint(1, 9)),
        start=np.array(first[:-1]),
    )


@pytest.mark.parametrize("hundred", range(cases(10)))
def test_no_choice_is_above_the_bound_from_divisibility(hundred: int) -> None:
    """The bound is at least every choice that fits, and at most the price of the room."""
    tighter = 0
    for seed in range(100 * hundred, 100 * hundred + 100):
        knapsack = _knapsack(Random(seed))
        bound, most = lattice_bound(knapsack), knapsack.price * knapsack.room
        options = [range(*pair) for pair in zip(knapsack.first[:-1], knapsack.first[1:], strict=True)]
        for choice in map(list, product(*options)):
            if knapsack.weight[choice].sum() <= knapsack.room:
                assert knapsack.worth(np.array(choice)) <= bound <= most
        tighter += bound < most
    assert tighter > 10


@pytest.mark.parametrize("seed", range(200))
def test_the_basis_generates_all_pairs_and_no_more(seed: int) -> None:
    """Every pair is a point of the lattice, whose area is the greatest common divisor of all determinants."""
    knapsack = _knapsack(Random(seed))
    pairs = list(zip(knapsack.weight.tolist(), map(int, knapsack.value), strict=True))
    if not any(weight for weight, _ in pairs):
        assert lattice_bound(knapsack) == 0
        return
    a, b, c = lattice_basis(knapsack)
    assert a == gcd(*(weight for weight, _ in pairs))
    assert all((value - weight // a * b) % c == 0 if c else value == weight // a * b for weight, value in pairs)
    assert a * c == gcd(*(u * y - v * x for (u, v), (x, y) in combinations([(0, 0), *pairs], 2)))


def test_the_bound_holds_however_few_weights_are_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    """If only one total weight is examined, the others are bounded by their price."""
    for seed in range(300):
        knapsack = _knapsack(Random(seed))
        bound = lattice_bound(knapsack)
        monkeypatch.setattr(lattice, "_MOST_WEIGHTS", 1)
        assert bound <= lattice_bound(knapsack) <= knapsack.price * knapsack.room
        monkeypatch.undo()


def test_a_step_that_does_not_fit_is_worth_nothing() -> None:
    """Steps of 6 for 16 fill 12 of 17: the bound is 32, and not 16/6 of 17."""
    weight, value, start = np.array([0, 6] * 3), np.array([0, 16] * 3), np.array([1, 3, 4])
    knapsack = Knapsack.of(17, np.array([0, 2, 4, 6]), weight, value, Fraction(16, 6), start)
    assert knapsack.worth(start) == lattice_bound(knapsack) < knapsack.price * knapsack.room
