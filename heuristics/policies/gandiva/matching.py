"""Matching: the choice of pairs of jobs with the largest total value."""

from typing import Any

from gsopt.core.numbers.tolerances import SUM

#: Number of pairs per job that are considered at first.
_FIRST = 2


def best_matching(values: Any) -> list[tuple[int, int]]:
    """Pair jobs, each with at most one other job, to maximize the sum of the pairs' values.

    `values` is a symmetric matrix; only positive values count. The result is a sorted list of pairs of indices,
    the lower index first. O(n^3) for n jobs. Ties between matchings are broken arbitrarily but reproducibly.

    To save time, a maximum-weight matching (Edmonds 1965, as implemented in networkx) is computed on only some
    of the pairs. The dual prices of an assignment problem (Jonker and Volgenant 1987, as implemented in scipy)
    prove that the other pairs are not needed.
    """
    import numpy as np

    worth = np.maximum(np.array(values, dtype=float, ndmin=2), 0.0)
    np.fill_diagonal(worth, 0.0)
    one, other = np.nonzero(np.triu(worth))
    if not len(one):
        return []
    # The sum of the prices is an upper bound on the total value. A matching falls short of it by at least the
    # cost of each of its pairs, so pairs that cost more than the shortfall of a known matching cannot help.
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
    """Return non-negative prices of jobs, where any two add up to at least the pair's value, and little more.

    In the assignment problem, each job has a price as a taker and a price as a taken job; the means of the two
    are returned. The prices of taken jobs are longest paths: compared with the price of its own job, a taker's
    gain from taking another job instead is at most the difference in price.
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
