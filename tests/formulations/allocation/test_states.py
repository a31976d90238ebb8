"""The search over states, against enumeration, with every way of merging, narrowing and stopping."""

from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from formulations.allocation import states
from formulations.allocation.knapsack import Knapsack
from formulations.allocation.states import improve
from gsopt.core.budget import Budget
from gsopt.core.result import StoppedBy
from tests.effort import cases
from tests.strategies.allocation import Impatient


def drawn(seed: int) -> tuple[Knapsack, np.ndarray, int]:
    """Draw a small knapsack at some price, a choice that fits, and the best worth by enumeration."""
    random = Random(seed)
    first, weight, value = [0], [], []
    spread = random.choice((0, 2, 30))
    long = random.choice((1, 1, 10**25))
    for _ in range(random.randint(1, 5)):
        options = sorted(random.sample(range(1, 40), random.randint(0, 5)))
        weight += [0, *options]
        value += [0, *(long * max(0, 3 * w + random.randint(-spread, spread)) for w in options)]
        first.append(len(weight))
    capacity = random.randint(0, 90)
    price = Fraction(random.choice((3, 3, 1, 5, 2.9, 0))) * long
    begins = np.array(first)
    choices = [
        np.array(choice)
        for choice in product(*map(range, first[:-1], first[1:]))
        if sum(weight[option] for option in choice) <= capacity
    ]
    start = random.choice(choices)
    knapsack = Knapsack.of(capacity, begins, np.array(weight), np.array(value, dtype=object), price, start)
    return knapsack, start, max(map(knapsack.worth, choices))


def weigh(knapsack: Knapsack, choice: np.ndarray) -> int:
    """Return the weight of a choice above that of the base."""
    return int(knapsack.weight[choice].sum())


@pytest.mark.parametrize(
    "passes",
    [
        ((None, None),),
        ((None, 1), (None, None)),
        ((1, 2), (2, None), (None, 5), (None, None)),
        ((64, 64), (None, 64), (None, 1_024), (None, None)),
    ],
)
@pytest.mark.parametrize("cells", [10**9, 0])
def test_finds_the_best_choice(
    passes: tuple[tuple[int | None, int | None], ...], cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever price, start and passes, merging in a table or by sorting: the best choice, proven."""
    monkeypatch.setattr(states, "PASSES", passes)
    monkeypatch.setattr(states, "_CELLS_PER_STATE", cells)
    for seed in range(cases(400)):
        knapsack, start, best = drawn(seed)
        improved = improve(knapsack, start, Budget())
        assert weigh(knapsack, improved.choice) <= knapsack.room
        assert (knapsack.worth(improved.choice), improved.excess) == (best, 0), seed
        assert improved.stopped_by is StoppedBy.FINISHED


def test_a_search_cut_short_gives_a_bound_that_holds() -> None:
    """Wherever the clock stops it: a choice that fits, no worse than the start, and an excess that holds."""
    early = 0
    for seed in range(cases(120)):
        knapsack, start, best = drawn(seed)
        for looks in range(60):
            improved = improve(knapsack, start, Impatient(looks=[looks]))
            worth = knapsack.worth(improved.choice)
            assert weigh(knapsack, improved.choice) <= knapsack.room
            assert max(knapsack.worth(start), 0 if knapsack.room >= 0 else worth) <= worth <= best
            assert best <= worth + improved.excess
            if not improved.excess:
                break
            assert improved.stopped_by is StoppedBy.TIME_LIMIT
            early += 1
    assert early > cases(500)


def test_bounds_get_sharper_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search stopped late knows a better bound than the price alone gives."""
    monkeypatch.setattr(states, "PASSES", ((None, None),))
    sharper = 0
    for seed in range(cases(120)):
        knapsack, start, _ = drawn(seed)
        before = improve(knapsack, start, Impatient(looks=[0])).excess + knapsack.worth(start)
        for looks in range(1, 40):
            improved = improve(knapsack, start, Impatient(looks=[looks]))
            if improved.excess and improved.excess + knapsack.worth(improved.choice) < before:
                sharper += 1
                break
    assert sharper >= cases(20)


def test_memory_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without memory for states or sums the search says so, with a bound that holds."""
    for limits in ({"MOST_STATES": 0}, {"MOST_CELLS": 0, "MOST_SUMS": 0}):
        full = 0
        with monkeypatch.context() as patch:
            for name, limit in limits.items():
                patch.setattr(states, name, limit)
            for seed in range(80):
                knapsack, start, best = drawn(seed)
                improved = improve(knapsack, start, Budget())
                assert best <= knapsack.worth(improved.choice) + improved.excess
                assert improved.stopped_by is StoppedBy.FINISHED
                assert improved.full == (improved.excess > 0)
                full += improved.full
        assert full > 10


def test_an_excess_that_is_enough_ends_the_search() -> None:
    """The search stops by the gap once the excess is small enough, and what it says holds."""
    stopped = 0
    for seed in range(200):
        knapsack, start, best = drawn(seed)
        enough = 40 * knapsack.step
        improved = improve(knapsack, start, Budget(), enough=enough)
        assert improved.excess <= enough
        assert best <= knapsack.worth(improved.choice) + improved.excess
        assert (improved.stopped_by is StoppedBy.GAP) == (improved.excess > 0)
        stopped += improved.excess > 0
    assert stopped > 20


def test_every_better_choice_is_told_and_may_be_the_last() -> None:
    """Choices are told in rising order with excesses that hold; True stops the search there."""
    told = 0
    for seed in range(200):
        knapsack, start, best = drawn(seed)
        heard: list[tuple[int, int]] = []

        def hear(choice: np.ndarray, excess: int, heard: Any = heard, knapsack: Knapsack = knapsack) -> None:
            heard.append((knapsack.worth(choice), excess))

        improve(knapsack, start, Budget(), hear=hear)
        assert [worth for worth, _ in heard] == sorted({worth for worth, _ in heard})
        assert all(worth + excess >= best for worth, excess in heard)
        if heard:
            told += 1
            improved = improve(knapsack, start, Budget(), hear=lambda *_: True)
            assert knapsack.worth(improved.choice) == heard[0][0]
            assert improved.stopped_by is (StoppedBy.INTERRUPT if improved.excess else StoppedBy.FINISHED)
    assert told > 50


@pytest.mark.parametrize("cells", [10**9, 0])
def test_dominated_states_are_dropped(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty groups alike have as many states as there are weights, not as there are combinations."""
    monkeypatch.setattr(states, "PASSES", ((None, None),))
    monkeypatch.setattr(states, "MOST_STATES", 40 * 40)
    monkeypatch.setattr(states, "_CELLS_PER_STATE", cells)
    first = np.arange(0, 3 * 41, 3)
    weight, value = np.tile([0, 2, 4], 40), np.tile([0, 4, 7], 40)
    knapsack = Knapsack.of(81, first, weight, value, Fraction(7, 4), first[:-1])
    improved = improve(knapsack, first[:-1], Budget())
    assert (improved.full, improved.excess) == (False, 0)
    assert int(value[improved.choice].sum()) == 40 * 4


def test_a_hard_class_takes_few_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups come from both sides, and states near the capacity first: 100 groups of 100 need no wide pass."""
    random = Random(5)
    weight = [w for _ in range(100) for w in (0, *sorted(random.sample(range(1, 10_000), 100)))]
    first = np.arange(0, 101 * 101, 101)
    value = np.array(weight)
    start = first[:-1] + np.repeat([100, 0], 50)
    capacity = int(value[start].sum()) + 7
    monkeypatch.setattr(states, "PASSES", ((64, 64),))
    improved = improve(Knapsack.of(capacity, first, value, value, Fraction(1), start), start, Budget())
    assert improved.excess == 0
    assert int(value[improved.choice].sum()) == capacity
