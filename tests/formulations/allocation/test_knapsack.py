"""The knapsack in whole numbers: base, losses and room, at any price."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from formulations.allocation.knapsack import Knapsack
from formulations.allocation.whole import LARGEST_TOTAL

FIRST = np.array([0, 2, 6])
WEIGHT = np.array([0, 2, 0, 1, 2, 3])
VALUE = np.array([0, 50, 0, 20, 30, 36])
START = np.array([0, 2])


@pytest.mark.parametrize(
    "price", [Fraction(0), Fraction(25, 2), Fraction(10), Fraction(20, 3), Fraction(1, 10**9)]
)
@pytest.mark.parametrize("scale", [1, 10**30])
def test_the_base_is_best_at_the_price(price: Fraction, scale: int) -> None:
    """Losses are differences to the base after payment, of machine integers and of long ones alike."""
    knapsack = Knapsack.of(4, FIRST, WEIGHT, VALUE.astype(object) * scale, price * scale, START)
    paid = Fraction(knapsack.price, knapsack.factor)
    assert abs(paid - price * scale) <= Fraction(1, knapsack.factor)
    for group, (begin, end) in enumerate(((0, 2), (2, 6))):
        scores = [int(VALUE[i]) * scale - int(WEIGHT[i]) * paid for i in range(begin, end)]
        base = int(knapsack.base[group])
        assert scores[base - begin] == max(scores)
        for option, score in zip(range(begin, end), scores, strict=True):
            assert Fraction(int(knapsack.loss[option]), knapsack.factor) == max(scores) - score
            assert knapsack.weight[option] == WEIGHT[option] - WEIGHT[base]
            assert knapsack.value[option] == int(VALUE[option] - VALUE[base]) * scale * knapsack.factor
    assert knapsack.room == 4 - sum(int(WEIGHT[base]) for base in knapsack.base)


def test_of_equals_the_start_is_the_base_and_else_the_lightest() -> None:
    """At a price of 10 the second and third items of a job are alike; the start decides, or the lighter one."""
    for start, base in (([0, 4], [1, 4]), ([0, 3], [1, 3]), ([0, 2], [1, 3])):
        assert Knapsack.of(4, FIRST, WEIGHT, VALUE, Fraction(10), np.array(start)).base.tolist() == base


def test_a_ratio_of_whole_numbers_is_the_price_exactly() -> None:
    """A price of 20/3 is no binary fraction, and still exact."""
    knapsack = Knapsack.of(4, FIRST, WEIGHT, VALUE, Fraction(20, 3), START)
    assert Fraction(knapsack.price, knapsack.factor) == Fraction(20, 3)
    assert knapsack.value.dtype == np.int64


def test_a_price_that_is_no_short_ratio_is_rounded() -> None:
    """Where the denominator is too long for machine integers the price is the next one that is not."""
    price = Fraction(10**40 + 1, 10**40 - 1)
    knapsack = Knapsack.of(4, FIRST, WEIGHT, VALUE, price, START)
    assert abs(Fraction(knapsack.price, knapsack.factor) - price) < Fraction(1, 10**9)


@pytest.mark.parametrize("seed", range(200))
def test_machine_integers_do_not_overflow(seed: int) -> None:
    """Near the limit of machine integers losses are those of Python's integers."""
    random = Random(seed)
    largest = LARGEST_TOTAL // random.choice((3, 40, 10**6))
    value = np.array([0, random.randint(0, largest), 0, random.randint(-largest, largest)], dtype=object)
    weight = np.array([0, random.randint(1, 10**9), 0, random.randint(1, 10**9)])
    price = Fraction(random.randint(0, largest), random.randint(1, 10**9))
    first, start = np.array([0, 2, 4]), np.array([0, 2])
    found = Knapsack.of(10**9, first, weight, value, price, start)
    scores = [int(v) * found.factor - found.price * int(w) for v, w in zip(value, weight, strict=True)]
    best = [max(scores[:2])] * 2 + [max(scores[2:])] * 2
    assert found.loss.tolist() == [b - s for b, s in zip(best, scores, strict=True)]
    reach = 10**9 + int(weight.sum())
    assert found.value.dtype == object or (2 * found.price + 1) * reach < 2**63


def test_the_step_divides_all_differences() -> None:
    """Values of 50, 20, 30 and 36 differ by multiples of 2; without options there is no difference."""
    assert Knapsack.of(4, FIRST, WEIGHT, VALUE, Fraction(12), START).step == 2 * (
        Knapsack.of(4, FIRST, WEIGHT, VALUE, Fraction(12), START).factor
    )
    nothing = np.zeros(1, dtype=np.int64)
    assert Knapsack.of(4, np.array([0, 1]), nothing, nothing, Fraction(1), nothing).step == 1


def test_worth_is_counted_from_the_base() -> None:
    """The base itself is worth nothing more; dearer choices are worth the difference."""
    knapsack = Knapsack.of(4, FIRST, WEIGHT, VALUE, Fraction(12), START)
    assert knapsack.worth(knapsack.base) == 0
    assert knapsack.worth(np.array([1, 4])) == (50 + 30 - 50 - 20) * knapsack.factor
