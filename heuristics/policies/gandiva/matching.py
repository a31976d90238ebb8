"""Matching: pairs among jobs, whose values have the largest sum."""

from typing import Any

from gsopt.core.numbers.tolerances import SUM

#: How many pairs are looked at for each job at first.
_FIRST = 2


def best_matching(values: Any) -> list[tuple[int, int]]:
    """Pair jobs, each with at most one other, so that the values of the pairs have the largest sum.

    `values` is a symmetric matrix; only pairs of a value above 0 count. Returns pairs of positions, the lower
    one first, in order. O(n^3) for n jobs. Among matchings with the same sum it is any, but always the same.

    It is a maximum weight matching (Edmonds 1965, as networkx has it) among few of the pairs. Jobs have prices,
    of which any two add up to at least the value of their pair, so that the sum of all prices bounds that of
    the values; they come from the assignment problem in which each job takes one and is taken by one (Jonker
    and Volgenant 1987, as scipy has it). The cost of a pair is what its prices exceed its value by, and a
    matching misses the bound by at least the cost of its pairs. So if the best matching among the cheapest
    pairs misses it by no more than any other pair costs, it is the best of all; otherwise the best is among the
    pairs that cost no more than it misses.
    """
    import numpy as np

    worth = np.maximum(np.array(values, dtype=float, ndmin=2), 0.0)
    np.fill_diagonal(worth, 0.0)
    one, other = np.nonzero(np.triu(worth))
    if not len(one):
        return []
    prices = _prices(worth)
    bound, rounding = prices.sum(), SUM * prices.sum()
    costs = prices[one] + prices[other] - worth[one, other]

    def match(limit: float) -> list[tuple[int, int]]:
        few = costs <= limit
        return _match(one[few], other[few], worth)

    limit = max(np.sort(costs)[: _FIRST * len(worth)][-1], rounding)
    pairs = match(limit)
    missing = bound - sum(worth[pair] for pair in pairs) + rounding
    return pairs if missing <= limit else match(missing)


def _prices(worth: Any) -> Any:
    """Price jobs, at least 0, so that any two cost at least what they are worth together, and little more.

    Where each job takes one and is taken by one, both takers and taken jobs have prices, whose means are
    returned. Those of taken jobs are longest paths: a job is paid what its taker must gain more by it than by
    its own.
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    takers, taken = linear_sum_assignment(worth, maximize=True)
    own = worth[takers, taken]
    more = worth - own[:, None]
    paid = np.zeros(len(worth))
    for _ in worth:
        longer = np.maximum(paid, (more + paid[taken][:, None]).max(axis=0))
        if np.array_equal(longer, paid):
            break
        paid = longer
    return (own - paid[taken] + paid) / 2


def _match(one: Any, other: Any, worth: Any) -> list[tuple[int, int]]:
    import networkx as nx

    graph = nx.Graph()
    graph.add_weighted_edges_from(
        zip(one.tolist(), other.tolist(), worth[one, other].tolist(), strict=True),
    )
    return sorted((min(pair), max(pair)) for pair in nx.max_weight_matching(graph))
