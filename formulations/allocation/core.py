"""Core: a Lagrangian bound decides most jobs, a dynamic programme the few that are left."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.allocation.dp import best_options
from formulations.allocation.groups import Found, Groups, Integers, solved
from gsopt.problems.allocation import Allocation, AllocationSolution
from gsopt.result import Result

#: Steps of the search for the price; it ends by itself long before, and any price gives a valid bound.
_MOST_PRICES = 100

#: Relative error of float sums that the bound must allow for.
_ROUNDING = 1e-12


def core(problem: Allocation, *, exact_arithmetic: bool = False) -> Result[AllocationSolution]:
    """Solve a problem by a Lagrangian bound and a dynamic programme over the jobs it leaves undecided.

    Works for any value tables and any worker sizes.

    At a price per GPU each job takes the item of the best value after payment; the total, and the price of the
    whole capacity, bound the optimum from above. At the best price the jobs' choices nearly fill the capacity,
    and filling the rest greedily gives a solution close to the bound. An item that is worth less after
    payment than its job's best item, by more than the distance between bound and solution, is in no better
    solution. Jobs with one item left are decided; the others are the core.

    Parameters
    ----------
    problem
        The problem.
    exact_arithmetic
        Compute bound, losses and core with integers of any length instead of floats, so that value and bound
        are exactly the same number.

    Raises
    ------
    Unsupported
        The core is too large for a table, or exact values have no common denominator of reasonable length.

    Notes
    -----
    Source: gsopt's own, for the second phase of Aryl's Algorithm 2 (Appendix D). Prices and cores are the
    standard tools for large multiple-choice knapsacks.

    Complexity: O(I) per price for I items (extra workers of all jobs), some ten prices, and the dynamic
    programme over the core; in the worst case the core is the whole problem.

    Examples
    --------
    >>> from gsopt.problems.allocation import ElasticJob
    >>> a = ElasticJob(name="A", min_workers=2, max_workers=3, gpus_per_worker=3, time_at_min=150)
    >>> b = ElasticJob(name="B", min_workers=2, max_workers=6, gpus_per_worker=2, time_at_min=60)
    >>> result = core(Allocation(capacity=7, jobs=[a, b]))
    >>> result.objective, result.solution.extra
    (80, {'A': 1, 'B': 2})
    """
    return solved(problem, "core", solve_core, exact_arithmetic=exact_arithmetic)


def solve_core(groups: Groups) -> Found:
    """Solve groups of items by a Lagrangian bound and a dynamic programme over the core."""
    price, counts = _best_price(groups)
    counts = _filled(groups, counts)
    items = np.flatnonzero(_may_be_better(groups, price, groups.total(counts)))
    options = np.bincount(groups.job[items], minlength=groups.size.size)
    others = _best_of(groups, items, options)
    counts = max(counts, others, key=groups.total)
    undecided = np.count_nonzero(options > 1)
    message = f"core: {undecided:,} of {groups.size.size:,} jobs undecided at the best price per GPU"
    return counts, groups.total(counts), message


def _best_price(groups: Groups) -> tuple[float, Integers]:
    """Find the price per GPU of the smallest bound, and choices at that price that fit.

    The bound is convex and piecewise linear in the price. Two prices, one at which the choices take too much
    and one at which they fit, give two lines; the next price is where they cross.
    """
    counts = _choices(groups, 0.0)
    many = _weight_and_value(groups, counts)
    if many[0] <= groups.capacity:
        return 0.0, counts
    fitting, few = np.zeros_like(counts), (0, 0.0)
    price = 0.0
    for _ in range(_MOST_PRICES):
        price = (many[1] - few[1]) / (many[0] - few[0])
        counts = _choices(groups, price)
        line = _weight_and_value(groups, counts)
        if line in (many, few) or line[1] - price * line[0] <= few[1] - price * few[0]:
            break
        if line[0] <= groups.capacity:
            few, fitting = line, counts
        else:
            many = line
    return price, fitting


def _choices(groups: Groups, price: float) -> Integers:
    """Give the number of extra workers of the best value after payment, the smallest of equals."""
    score = groups.value - price * groups.weight
    hits = np.flatnonzero(score == np.maximum.reduceat(score, groups.first[:-1])[groups.job])[::-1]
    counts = np.zeros_like(groups.size)
    counts[groups.job[hits]] = groups.extra[hits]  # what is written last is the first of its job
    return counts


def _weight_and_value(groups: Groups, counts: Integers) -> tuple[int, float]:
    return int((counts * groups.size).sum()), float(groups.value[groups.first[:-1] + counts].sum())


def _filled(groups: Groups, counts: Integers) -> Integers:
    """Fill the GPUs left by the change of one job that gains most, again and again."""
    counts = counts.copy()
    left = groups.capacity - int((counts * groups.size).sum())
    while left and counts.size:
        held = (groups.first[:-1] + counts)[groups.job]
        gain = np.where(groups.weight - groups.weight[held] <= left, groups.value - groups.value[held], 0)
        item = int(np.argmax(gain))
        if gain[item] <= 0:
            break
        left -= int(groups.weight[item] - groups.weight[held[item]])
        counts[groups.job[item]] = groups.extra[item]
    return counts


def _may_be_better(groups: Groups, price: float, value: Any) -> NDArray[np.bool_]:
    """Tell which items a solution better than `value` may hold.

    Those that lose no more, against the best item of their job at the price, than bound and value differ. Exact
    arithmetic takes the price as the fraction that its float is, and multiplies all by its denominator.
    """
    paid: Any = price
    unit, rounding = 1, _ROUNDING
    if groups.exact is not None:
        paid, unit = (Fraction(price) * groups.denominator).as_integer_ratio()
        rounding = 0
    score = groups.numbers * unit - groups.weight.astype(groups.numbers.dtype) * paid
    best = np.maximum.reduceat(score, groups.first[:-1])
    bound = best.sum() + paid * groups.capacity
    slack = bound - value * unit + rounding * bound
    return np.asarray(best[groups.job] - score <= slack, dtype=np.bool_)


def _best_of(groups: Groups, items: Integers, options: Integers) -> Integers:
    """Choose the best solution out of some items of each job; nothing where not even the smallest fit."""
    first = np.cumsum(options) - options
    smallest, largest = items[first], items[first + options - 1]
    room = groups.capacity - int(groups.weight[smallest].sum())
    if room < 0:
        return np.zeros_like(groups.size)
    counts: Integers = groups.extra[smallest]
    undecided = options > 1
    core = items[undecided[groups.job[items]]]
    weight = groups.weight[core] - groups.weight[smallest][groups.job[core]]
    begin = np.concatenate(([0], np.cumsum(options[undecided])))
    useful = min(room, int((groups.weight[largest] - groups.weight[smallest]).sum()))
    chosen = best_options(weight, groups.numbers[core], begin, useful)
    counts[undecided] = groups.extra[core[begin[:-1] + chosen]]
    return counts
