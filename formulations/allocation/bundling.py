"""Bundling: an exact method for jobs with diminishing gains whose step sizes divide each other."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from formulations.allocation.groups import Found, Groups, Hear, Integers, solve_groups
from formulations.allocation.price import price_items
from formulations.allocation.whole import Numbers, whole_values
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.allocation import Allocation, AllocationSolution

#: The data of one size: the bundles (one row each, with the offers of the next smaller size tied into it), the
#: items of this size, and the offers that are taken. Offers are numbered: first the bundles, then the items.
Level = tuple[Integers, Integers, Integers]


@exact_method(unused=["gap", "backend", "on_incumbent", "log"])
def bundling(problem: Allocation, budget: Budget) -> Result[AllocationSolution]:
    """Solve a problem whose step sizes divide each other, with diminishing gains within each job.

    A step leads from one allowed number of workers of a job to the next. Its size is the number of GPUs that it
    adds.

    1. Begin with the smallest size d. If the capacity is not a multiple of the next size d', only steps of size
       d fit into the remainder. Fill it with the best of them.
    2. Tie the other steps of size d, in descending order of value, into bundles of d' / d steps. These count as
       steps of size d'. Continue with this size.
    3. At the largest size, take the best steps that fit. As gains diminish, the best steps of a job are its
       first ones.

    Gains always diminish if speed-up is proportional and each job allows every number of workers up to its
    maximum. With a single size, this is the greedy algorithm by value. Values are exact integers over a common
    denominator.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit and start.

    Raises
    ------
    Unsupported
        Two step sizes do not divide each other, a job has steps of different sizes, a step gains more than the
        one before it, or the values have no common denominator of reasonable length.

    Notes
    -----
    Source: the standard method for knapsacks with divisible weights, here for the second phase of Aryl's
    Algorithm 2 (Appendix D).

    Complexity: O(I log I) for I steps, independent of the capacity.

    Examples
    --------
    >>> from gsopt.problems.allocation import ElasticJob
    >>> a = ElasticJob(name="A", min_workers=2, max_workers=3, gpus_per_worker=2, time_at_min=150)
    >>> b = ElasticJob(name="B", min_workers=2, max_workers=6, gpus_per_worker=1, time_at_min=60)
    >>> result = bundling(Allocation(capacity=4, jobs=[a, b]))
    >>> result.objective, result.bound, result.solution.extra
    (80, 80, {'A': 1, 'B': 2})
    """
    return solve_groups(problem, "bundling", solve_by_bundling, budget)


def solve_by_bundling(groups: Groups, budget: Budget, hear: Hear) -> Found:
    """Solve groups of items by bundling, or raise `Unsupported` if their structure does not allow it."""
    del hear  # there is no better choice before the best
    message = bundling_message(groups, step_sizes(groups.first, groups.weight))
    whole = whole_values(groups, np.arange(groups.value.size), budget)
    if whole is None:
        priced = price_items(groups, budget)
        return Found(priced.choice, Fraction(priced.excess), message, StoppedBy.TIME_LIMIT)
    return Found(bundle(groups.capacity, groups.first, groups.weight, whole.numbers), 0, message)


def bundling_message(groups: Groups, sizes: Sequence[int]) -> str:
    """Return the message of a result found by bundling, which states the step sizes in GPUs."""
    return f"bundling: steps of {', '.join(str(size * groups.unit) for size in sizes)} GPUs, each saving less"


def bundle(capacity: int, first: Integers, weight: Integers, value: Numbers) -> Integers:
    """Return the indices of the most valuable options, one per group, that fit within the capacity.

    `first` holds the index of each group's first option, followed by the number of options. Weights are in
    ascending order within each group. Raises `Unsupported` if the steps between options do not divide each
    other, differ within a group, or gain more than the step before.
    """
    sizes = step_sizes(first, weight)
    group, size, gain = _steps(first, weight, value)
    if np.any((gain[1:] > gain[:-1]) & (group[1:] == group[:-1])):
        raise Unsupported("no step of a job may save more than the one before it")
    useful = gain > 0
    group, size, gain = group[useful], size[useful], gain[useful]
    chosen = _best_items(size, gain, sizes, capacity - int(weight[first[:-1]].sum()))
    taken: Integers = first[:-1] + np.bincount(group[chosen], minlength=first.size - 1)
    return taken


def step_sizes(first: Integers, weight: Integers) -> list[int]:
    """List the distinct step weights in ascending order.

    Raises `Unsupported` if the steps within a group differ, or if a step weight does not divide the next one.
    """
    group, size, _ = _steps(first, weight, weight)
    if np.any((size[1:] != size[:-1]) & (group[1:] == group[:-1])):
        raise Unsupported("the allowed numbers of workers of a job must be equally far apart")
    sizes: list[int] = np.unique(size).tolist()
    if not divide_each_other(sizes):
        raise Unsupported(f"steps of GPUs must divide each other, not {', '.join(map(str, sizes))}")
    return sizes


def _steps(first: Integers, weight: Integers, value: Numbers) -> tuple[Integers, Integers, Numbers]:
    """Return the group, weight and value of every step from one option to the next."""
    group = np.repeat(np.arange(first.size - 1), np.diff(first))
    within = group[1:] == group[:-1]
    return group[1:][within], np.diff(weight)[within], np.diff(value)[within]


def divide_each_other(sizes: list[int]) -> bool:
    """Check whether each size divides the next one, given sizes in ascending order."""
    return all(larger % smaller == 0 for smaller, larger in pairwise(sizes))


def _best_items(size: Integers, gain: Numbers, sizes: list[int], capacity: int) -> Integers:
    """Return the indices of the items that fit within the capacity and have the largest total gain."""
    levels: list[Level] = []
    bundles, tied = gain[:0], np.empty((0, 1), dtype=np.int64)
    for d, larger in pairwise([*sizes, 0]):
        own = np.flatnonzero(size == d)
        offered = np.concatenate((bundles, gain[own]))
        units = capacity // d
        order = np.argsort(-offered)[:units]
        per_bundle = larger // d
        single = units % per_bundle if larger else units
        levels.append((tied, own, order[:single]))
        tied = _rows(order[single:], max(per_bundle, 1))
        bundles = np.append(offered, 0)[tied].sum(axis=1)
        capacity = (units - single) * d
    return _untie(levels)


def _rows(order: Integers, width: int) -> Integers:
    """Arrange indices in rows, filling up the last row with -1, which is the index of a zero."""
    rows = np.full((-(-order.size // width), width), -1)
    rows.flat[: order.size] = order
    return rows


def _untie(levels: list[Level]) -> Integers:
    """Convert the bundles taken at every level back into items, starting from the largest size."""
    items = [np.empty(0, dtype=np.int64)]
    untied = np.empty(0, dtype=np.int64)
    for tied, own, single in reversed(levels):
        taken = np.concatenate((single, untied))
        is_bundle = taken < len(tied)
        items.append(own[taken[~is_bundle] - len(tied)])
        untied = tied[taken[is_bundle]].ravel()
        untied = untied[untied >= 0]
    return np.concatenate(items)
