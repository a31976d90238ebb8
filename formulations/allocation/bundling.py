"""Bundling: exact in O(I log I) where worker sizes divide each other and values are concave."""

from itertools import pairwise

import numpy as np

from formulations.allocation.groups import Found, Groups, Integers, Numbers, solved
from gsopt.errors import Unsupported
from gsopt.problems.allocation import Allocation, AllocationSolution
from gsopt.result import Result

#: One worker size: offers tied into its bundles (one row each), its own items, and the offers taken for good.
#: An offer is a place among the bundles followed by the own items.
Level = tuple[Integers, Integers, Integers]


def bundling(problem: Allocation, *, exact_arithmetic: bool = False) -> Result[AllocationSolution]:
    """Solve a problem whose worker sizes divide each other and whose value tables are concave.

    The extra workers of all jobs are single items: concave tables make the first ones of a job its best ones,
    so any set of items is a solution of the same or a better value. Sizes d are processed from the smallest
    on. A remainder of the capacity that is no multiple of the next size d' can only be used by items of
    size d; the best of them are taken. What is left is tied, in the order of value, into bundles of d' / d
    items, which are items of size d'. At the largest size the best that fit are taken.

    Proportional speed always gives concave tables (each further worker saves less), so this is the usual case
    where workers have 1, 2, 4 or 8 GPUs. With one size it is the greedy by value.

    Parameters
    ----------
    problem
        The problem.
    exact_arithmetic
        Compute with integers of any length instead of floats, so that value and bound are exactly the same
        number.

    Raises
    ------
    Unsupported
        Two worker sizes do not divide each other, or a table is not concave; or exact values have no common
        denominator of reasonable length.

    Notes
    -----
    Source: gsopt's own, for the second phase of Aryl's Algorithm 2 (Appendix D); knapsacks with divisible
    weights are solved like this.

    Complexity: O(I log I) for I items (extra workers of all jobs), whatever the capacity.

    Examples
    --------
    >>> from gsopt.problems.allocation import ElasticJob
    >>> a = ElasticJob(name="A", min_workers=2, max_workers=3, gpus_per_worker=2, time_at_min=150)
    >>> b = ElasticJob(name="B", min_workers=2, max_workers=6, gpus_per_worker=1, time_at_min=60)
    >>> result = bundling(Allocation(capacity=4, jobs=[a, b]))
    >>> result.objective, result.solution.extra
    (80, {'A': 1, 'B': 2})
    """
    return solved(problem, "bundling", bundle, exact_arithmetic=exact_arithmetic)


def bundle(groups: Groups) -> Found:
    """Solve groups of items by bundling.

    Raises
    ------
    Unsupported
        As `bundling`.
    """
    sizes = worker_sizes(groups)
    if not divide_each_other(sizes):
        raise Unsupported(f"worker sizes must divide each other, not {', '.join(map(str, sizes))}")
    job, gain = _marginals(groups)
    if np.any((gain[1:] > gain[:-1]) & (job[1:] == job[:-1])):
        raise Unsupported("no extra worker of a job may be worth more than the one before it")
    useful = gain > 0
    job, gain = job[useful], gain[useful]
    chosen = _best_items(groups.size[job], gain, sizes, groups.capacity)
    counts = np.bincount(job[chosen], minlength=groups.size.size)
    return counts, gain[chosen].sum(), f"bundling: worker sizes {', '.join(map(str, sizes))}, concave values"


def _marginals(groups: Groups) -> tuple[Integers, Numbers]:
    """Give job and value of every single extra worker."""
    later = groups.extra > 0
    return groups.job[later], np.diff(groups.numbers)[later[1:]]


def worker_sizes(groups: Groups) -> list[int]:
    """List the different sizes of extra workers, in rising order."""
    return sorted(set(groups.size[np.diff(groups.first) > 1].tolist()))


def divide_each_other(sizes: list[int]) -> bool:
    """Tell whether each size, in rising order, divides the next.

    Examples
    --------
    >>> divide_each_other([1, 2, 8]), divide_each_other([2, 3])
    (True, False)
    """
    return all(larger % smaller == 0 for smaller, larger in pairwise(sizes))


def _best_items(size: Integers, gain: Numbers, sizes: list[int], capacity: int) -> Integers:
    """Choose items of the largest total gain that fit; places in the arrays given."""
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
    """Arrange places in rows; -1, the place of a zero, where the last row is not full."""
    rows = np.full((-(-order.size // width), width), -1)
    rows.flat[: order.size] = order
    return rows


def _untie(levels: list[Level]) -> Integers:
    """Turn what was taken at every level into items, from the largest size down."""
    items = [np.empty(0, dtype=np.int64)]
    untied = np.empty(0, dtype=np.int64)
    for tied, own, single in reversed(levels):
        taken = np.concatenate((single, untied))
        is_bundle = taken < len(tied)
        items.append(own[taken[~is_bundle] - len(tied)])
        untied = tied[taken[is_bundle]].ravel()
        untied = untied[untied >= 0]
    return np.concatenate(items)
