"""Knapsack: a multiple-choice knapsack in integers, relative to each job's best item at a price per GPU."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from formulations.allocation.groups import Integers
from formulations.allocation.whole import LARGEST_TOTAL, Numbers

#: Maximum number of binary digits added to values so that the price per unit of weight becomes an integer too.
_MOST_SHIFT = 40


@dataclass(frozen=True, eq=False)
class Knapsack:
    """A multiple-choice knapsack: choose one option per group to maximize the value within the capacity.

    At a price per unit of weight, each group has an option with the highest value after payment. Ties go to the
    option in a known choice, and otherwise to the lightest one. Together, these options are the base, and all
    weights and values are relative to it. A choice is an array with one option per group, shape (groups,).
    """

    room: int  # weight that the base leaves; negative if it is too heavy
    first: Integers  # index of each group's first option, then the number of options, shape (groups + 1,)
    base: Integers  # the choice that is best at the price
    # weight, value: weight and value of each option minus those of its group's base, shape (options,)
    weight: Integers
    value: Numbers
    loss: Numbers  # value after payment of each option's base minus that of the option, shape (options,)
    price: int
    factor: int  # factor by which the given values were multiplied

    @classmethod
    def of(
        cls,
        capacity: int,
        first: Integers,
        weight: Integers,
        value: Numbers,
        price: Fraction,
        start: Integers,
    ) -> "Knapsack":
        """Build a knapsack whose weights and values are relative to the best options at a price.

        The price is per unit of weight. If it is chosen well, the options with the highest values after payment
        nearly fill the capacity. Machine integers are used if every possible sum fits into them. Weights are in
        ascending order within each group, and `start` is a choice that fits.
        """
        reach = abs(capacity) + _sum_of_largest(weight, first)
        largest = _sum_of_largest(abs(value), first) + 2 * (int(price) + 1) * reach
        factor, fits = _factor(largest, price)
        scaled: Numbers = value.astype(np.int64 if fits else object) * factor
        whole_price = round(price * factor)
        score = scaled - weight.astype(scaled.dtype) * whole_price
        group = np.repeat(np.arange(first.size - 1), np.diff(first))
        highest = np.maximum.reduceat(score, first[:-1])
        hits = np.flatnonzero(score == highest[group])[::-1]
        base = np.zeros(first.size - 1, dtype=np.int64)
        base[group[hits]] = hits  # what is written last is the first of its group
        base = np.where(score[start] == highest, start, base)
        return cls(
            room=capacity - int(weight[base].sum()),
            first=first,
            base=base,
            weight=weight - weight[base][group],
            value=scaled - scaled[base][group],
            loss=highest[group] - score,
            price=whole_price,
            factor=factor,
        )

    @property
    def step(self) -> int:
        """A common divisor of the differences in value between any two choices."""
        return int(np.gcd.reduce(self.value)) or 1

    def worth(self, choice: Integers) -> int:
        """Return the value of a choice minus that of the base."""
        return int(self.value[choice].sum())


def _factor(largest: int, price: Fraction) -> tuple[int, bool]:
    """Return a factor that makes the price an integer if possible, and whether machine integers suffice."""
    digits = LARGEST_TOTAL.bit_length() - 1 - largest.bit_length()
    shift = min(digits, _MOST_SHIFT) if digits >= 0 else _MOST_SHIFT
    spare = shift - price.denominator.bit_length()
    return (price.denominator * 2**spare if spare >= 0 else 2**shift), digits >= 0


def _sum_of_largest(numbers: Numbers, first: Integers) -> int:
    return int(np.maximum.reduceat(numbers, first[:-1]).sum())
