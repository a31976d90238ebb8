"""DP: a dynamic program over jobs and GPUs."""

from fractions import Fraction

import numpy as np

from formulations.allocation.groups import Found, Groups, Hear, Integers, solve_groups
from formulations.allocation.price import price_items
from formulations.allocation.whole import Numbers, whole_values
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.allocation import Allocation, AllocationSolution

#: Maximum number of cells (group, GPU) in the table of choices, and maximum number of steps (option, GPU) in
#: the computation.
LARGEST_TABLE, LONGEST_RUN = 200_000_000, 10_000_000_000

#: Factor by which a step takes longer with integers that exceed 64 bits.
_LONG_STEP = 50


@exact_method(unused=["gap", "backend", "on_incumbent", "log"])
def dp(problem: Allocation, budget: Budget) -> Result[AllocationSolution]:
    """Solve a problem by dynamic programming over jobs and GPUs.

    After k jobs, the table holds the best value with at most c GPUs, for every c. The method accepts any values
    and any worker sizes. Values are exact integers over a common denominator.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit and start.

    Raises
    ------
    Unsupported
        The table would not fit in memory or would take hours, or the values have no common denominator of
        reasonable length.

    Notes
    -----
    Source: MaxValueDP of Aryl, Algorithm 2, line 20 (Appendix D), which is the textbook dynamic program.

    Complexity: O(I C) time and O(J C) memory for J jobs, I items (allowed numbers of extra workers of all jobs)
    and C GPUs.

    Examples
    --------
    >>> from gsopt.problems.allocation import ElasticJob
    >>> a = ElasticJob(name="A", min_workers=2, max_workers=3, gpus_per_worker=2, time_at_min=150)
    >>> b = ElasticJob(name="B", min_workers=2, max_workers=6, gpus_per_worker=1, time_at_min=60)
    >>> result = dp(Allocation(capacity=4, jobs=[a, b]))
    >>> result.objective, result.bound, result.solution.extra
    (80, 80, {'A': 1, 'B': 2})
    """
    return solve_groups(problem, "dp", fill_table, budget)


def fill_table(groups: Groups, budget: Budget, hear: Hear) -> Found:
    """Solve groups of items by dynamic programming."""
    del hear  # there is no choice before the last job
    largest = np.maximum.reduceat(groups.weight, groups.nothing) if groups.size.size else groups.weight
    capacity = min(groups.capacity, int(largest.sum()))
    message = f"dp: table of {groups.size.size:,} jobs by {capacity:,} GPUs"
    refuse_large(groups.first, capacity)
    whole = whole_values(groups, np.arange(groups.value.size), budget)
    options = None
    if whole is not None:
        refuse_large(groups.first, capacity, long=whole.numbers.dtype == object)
        options = best_options(groups.weight, whole.numbers, groups.first, capacity, budget)
    if options is None:
        priced = price_items(groups, budget)
        return Found(priced.choice, Fraction(priced.excess), message, StoppedBy.TIME_LIMIT)
    return Found(groups.nothing + options, 0, message)


def refuse_large(first: Integers, capacity: int, *, long: bool = False) -> None:
    """Raise `Unsupported` if a table is too large or would take hours to compute."""
    groups, options = first.size - 1, int(first[-1])
    steps = options * (capacity + 1) * (_LONG_STEP if long else 1)
    if groups * (capacity + 1) > LARGEST_TABLE or steps > LONGEST_RUN:
        raise Unsupported(f"a table of {groups:,} jobs by {capacity:,} GPUs is too large")


def best_options(
    weight: Integers, value: Numbers, first: Integers, capacity: int, budget: Budget
) -> Integers | None:
    """Return the best options that fit, as indices within their groups, or None if the time limit is reached.

    `first` holds the index of each group's first option, followed by the number of options. Within each group,
    weights start at 0 and are in ascending order.
    """
    kind = np.min_scalar_type(int(np.diff(first).max(initial=0)))
    choices = np.zeros((first.size - 1, capacity + 1), dtype=kind)
    best = np.zeros(capacity + 1, dtype=value.dtype)
    sums, better = np.empty_like(best), np.empty(capacity + 1, dtype=np.bool_)
    bounds, weights, values = first.tolist(), weight.tolist(), value.tolist()
    for group, choice in enumerate(choices):
        start = bounds[group]
        after = best + values[start]
        for option in range(start + 1, bounds[group + 1]):
            if budget.passed:
                return None
            used = weights[option]
            if used > capacity:
                break
            total, wins, target = sums[used:], better[used:], after[used:]
            np.add(best[: capacity + 1 - used], values[option], out=total)
            np.greater(total, target, out=wins)
            np.copyto(target, total, where=wins)
            choice[used:][wins] = option - start
        best = after
    return _read_back(choices, weight, first, capacity)


def _read_back(choices: Integers, weight: Integers, first: Integers, capacity: int) -> Integers:
    chosen = np.zeros(first.size - 1, dtype=np.int64)
    left = capacity
    for group in reversed(range(chosen.size)):
        chosen[group] = choices[group, left]
        left -= int(weight[first[group] + chosen[group]])
    return chosen
