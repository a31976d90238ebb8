"""Matching: pairs among jobs, whose values have the largest sum."""

from typing import Any

from gsopt.core.numbers.tolerances import SUM

#: How many pairs are looked at for each job at first.
_FIRST = 2


def best_matching(values: Any) -> list[tuple[int, int]]:
    """Pair jobs, each with one other at most, so that the values of the pairs have the largest sum.

    It is a maximum weight matching (Edmonds 1965, as networkx has it) among few of the pairs. Jobs have prices,
    of which any two come to no less than what their pair is worth, so that the sum of all prices bounds that of
    the values; they are those of the assignment problem in which each job takes one and is taken by one (Jonker
    and Volgenant 1987, as scipy has it). A pair costs what its prices exceed its value by, and a matching
    misses the bound by at least what its pairs cost. So where the best matching among the cheapest pairs misses
    it by no more than any other pair costs, it is the best of all; else the best is among the pairs that cost
    no more than it misses.

    O(n^3) for n jobs. Of matchings with the same sum, any, but always the same.

    Parameters
    ----------
    values
        What each two jobs are worth, a symmetric matrix; only those above 0 may be a pair.

    Returns
    -------
    pairs
        Of positions, the lower one first, in order.
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
    """Price jobs, at least 0, so that any two cost no less than they are worth together, and all but little.

    Where each job takes one and is taken by one, who takes and who is taken have prices, whose means these are.
    Those of who is taken are longest paths: it is paid what its taker has to have more for it than for its own.
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
