"""Prices: exact prices of matrix columns that prove a set of pairs optimal."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray


def proves(savings: NDArray[np.object_], pairs: Collection[tuple[int, int]]) -> bool:
    """Check, by exact prices of the columns, whether a set of pairs has the largest possible total saving.

    At the right prices, each matched row prefers its own column (judged by saving minus price), and an
    unmatched row gains from no column. The lowest such prices are found by iteration: the price of a column is
    at least what another matched row would gain by switching to it from its own column. Three conditions
    make the pairs and the prices a primal and a dual solution of equal value: the prices converge, unmatched
    columns cost nothing, and no row pays more than it saves. If another set is better, one of them fails.

    `savings` are exact and non-negative, shape (rows, columns). `pairs` match each row and column at most once.
    """
    count = savings.shape[1]
    rows = np.array([row for row, _ in pairs], dtype=int)
    columns = np.array([column for _, column in pairs], dtype=int)
    alone = np.setdiff1d(np.arange(savings.shape[0]), rows)
    idle = np.setdiff1d(np.arange(count), columns)
    own = savings[rows, columns]
    further = savings[rows] - own[:, None]
    prices = savings[alone].max(axis=0) if alone.size else np.zeros(count, dtype=object)
    for _ in range(len(rows) + 1):
        if (prices[columns] > own).any() or (prices[idle] > 0).any():
            return False
        raised = prices
        if rows.size:
            raised = np.maximum(prices, (further + prices[columns][:, None]).max(axis=0))
        if (raised == prices).all():
            return True
        prices = raised
    return False
