"""Prices: what partners cost at least where a set of pairs is the best, which proves that it is."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray


def proves(savings: NDArray[np.object_], pairs: Collection[tuple[int, int]]) -> bool:
    """Check whether no set of pairs saves more than one, by prices of the columns in exact numbers.

    Each row shall have the column that leaves it most, saving less price, and whoever is alone shall have
    nothing to gain. The least prices with which no row wants another column follow from each other: what a
    matched row would pay more for a column than for its own. Where they come to rest, a column without a row
    costs nothing, and no row pays more than it saves, savings and prices are a primal and a dual solution of
    the assignment problem with one value. Where another set is better they do not come to rest. `savings` are
    exact and at least 0; `pairs` match each row and column at most once.
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
