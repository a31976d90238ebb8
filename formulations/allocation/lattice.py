"""Lattice: a bound from the pairs of total weight and total value that divisibility allows."""

from math import inf

import numpy as np

from formulations.allocation.knapsack import Knapsack

#: Maximum number of total weights that are examined. The bound holds for any number.
_MOST_WEIGHTS = 10_000


def lattice_bound(knapsack: Knapsack) -> int:
    """Return an upper bound on the value of every choice that fits, relative to the base.

    The total weight W and the total value V of a choice form a sum of the options' pairs, so (W, V) is a point
    of the lattice that these pairs generate: (t a, t b + k c) for integers t and k, where (a, b) and (0, c) are
    a basis (`lattice_basis`). It also satisfies W <= room and V <= price W. The bound is the highest V of such
    a point. For each total weight t a, this V is the largest number of at most price W that is congruent to t b
    modulo c. If more than 10,000 weights would have to be examined, price W bounds V for the smaller ones.

    If values are weights plus a constant, for example, the bound is much tighter than the price of the room.

    Notes
    -----
    Source: rounding as in Chvatal, Edmonds polytopes and a hierarchy of combinatorial problems (Discrete
    Mathematics 4, 1973), of the capacity and the value at once.
    """
    if not knapsack.weight.any():
        return 0
    a, b, c = lattice_basis(knapsack)
    best, largest = -inf, knapsack.room // a
    for times in range(largest, largest - _MOST_WEIGHTS, -1):
        most = knapsack.price * times * a
        if best >= most:
            break
        above = most - times * b
        if c or above >= 0:
            best = max(best, most - (above % c if c else above))
    else:
        best = max(best, knapsack.price * (largest - _MOST_WEIGHTS) * a)
    return int(best)


def lattice_basis(knapsack: Knapsack) -> tuple[int, int, int]:
    """Return a basis (a, b), (0, c) of the lattice that the pairs of weight and value generate."""
    a = b = 0
    divisors = np.gcd.accumulate(knapsack.weight)
    for place in np.flatnonzero(np.diff(divisors, prepend=0)).tolist():
        a, b = _combined(a, b, int(knapsack.weight[place]), int(knapsack.value[place]))
    left = knapsack.value.astype(object) - knapsack.weight.astype(object) // a * b
    return a, b, int(np.gcd.reduce(left))


def _combined(a: int, b: int, weight: int, value: int) -> tuple[int, int]:
    """Combine (a, b) and (weight, value) to a pair whose first number is their greatest common divisor."""
    while weight:
        times = a // weight
        a, b, weight, value = weight, value, a - times * weight, b - times * value
    return (a, b) if a > 0 else (-a, -b)
