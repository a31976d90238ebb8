"""Dynamic programme over jobs and GPUs: the reference for every other exact method."""

import numpy as np

from formulations.allocation.groups import Found, Groups, Integers, Numbers, solved
from gsopt.errors import Unsupported
from gsopt.problems.allocation import Allocation, AllocationSolution
from gsopt.result import Result

#: Cells (group, GPU) of the table of choices, and steps (option, GPU) of the computation, that are still tried.
LARGEST_TABLE, LONGEST_RUN = 200_000_000, 10_000_000_000


def dp(problem: Allocation, *, exact_arithmetic: bool = False) -> Result[AllocationSolution]:
    """Solve a problem by dynamic programming.

    State after k jobs: the best value with at most c GPUs, for every c. Works for any value tables and any
    worker sizes.

    Parameters
    ----------
    problem
        The problem.
    exact_arithmetic
        Compute with integers of any length instead of floats, so that value and bound are exactly the same
        number. Some fifty times slower.

    Raises
    ------
    Unsupported
        The table would have more cells than memory, or exact values have no common denominator of reasonable
        length.

    Notes
    -----
    Source: MaxValueDP of Aryl, Algorithm 2, line 20 (Appendix D); the textbook programme.

    Complexity: O(I C) time and O(J C) memory for J jobs, I items (extra workers of all jobs) and C GPUs.

    Examples
    --------
    >>> from gsopt.problems.allocation import ElasticJob
    >>> a = ElasticJob(name="A", min_workers=2, max_workers=3, gpus_per_worker=2, time_at_min=150)
    >>> b = ElasticJob(name="B", min_workers=2, max_workers=6, gpus_per_worker=1, time_at_min=60)
    >>> result = dp(Allocation(capacity=4, jobs=[a, b]))
    >>> result.objective, result.solution.extra
    (80, {'A': 1, 'B': 2})
    """
    return solved(problem, "dp", fill_table, exact_arithmetic=exact_arithmetic)


def fill_table(groups: Groups) -> Found:
    """Solve groups of items by dynamic programming."""
    counts = best_options(groups.weight, groups.numbers, groups.first, groups.capacity)
    return counts, groups.total(counts), f"table of {groups.size.size:,} jobs by {groups.capacity:,} GPUs"


def best_options(weight: Integers, value: Numbers, first: Integers, capacity: int) -> Integers:
    """Choose one option of every group so that the value is largest and the weights fit.

    Parameters
    ----------
    weight
        Weight of each option, shape (options,), in rising order within a group; the first of a group weighs 0.
    value
        Value of each option, shape (options,).
    first
        Where the options of each group begin, and at the end their number, shape (groups + 1,).
    capacity
        Total weight that fits.

    Returns
    -------
    ndarray
        Place of the chosen option within its group, shape (groups,).

    Raises
    ------
    Unsupported
        The table is too large.

    Examples
    --------
    >>> weights, values = np.array([0, 2, 0, 1, 2, 3]), np.array([0, 50, 0, 20, 30, 36])
    >>> best_options(weights, values, np.array([0, 2, 6]), 4)
    array([1, 2])
    """
    groups = first.size - 1
    if groups * (capacity + 1) > LARGEST_TABLE or weight.size * (capacity + 1) > LONGEST_RUN:
        raise Unsupported(f"a table of {groups:,} groups by {capacity:,} GPUs is too large")
    steps = np.diff(first)
    choices = np.zeros((groups, capacity + 1), dtype=np.min_scalar_type(int(steps.max(initial=0))))
    best = np.zeros(capacity + 1, dtype=value.dtype)
    sums, better = np.empty_like(best), np.empty(capacity + 1, dtype=np.bool_)
    bounds, weights, values = first.tolist(), weight.tolist(), value.tolist()
    for group, choice in enumerate(choices):
        start = bounds[group]
        after = best + values[start]
        for option in range(start + 1, bounds[group + 1]):
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
