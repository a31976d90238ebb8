"""MaxValueDP: the dynamic program for the multiple-choice knapsack in Aryl's Algorithm 2."""

from collections.abc import Sequence

import numpy as np

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import TimeUp, Unsupported

#: An item: weight and value.
Item = tuple[int, float]

#: At most this many table cells, and additions (item, GPU): less than a gigabyte, and a few seconds.
LARGEST_TABLE, LONGEST_RUN = 100_000_000, 500_000_000


def max_value(groups: Sequence[Sequence[Item]], capacity: int, budget: Budget = UNLIMITED) -> list[int]:
    """Choose at most one item from every group, with the largest total value that fits into the capacity.

    Returns
    -------
    list of int
        The position of the chosen item in each group, counted from 1, or 0 if no item is chosen.

    Raises
    ------
    Unsupported
        The table, with a row per group and a column per unit of capacity, would take too much memory or time.
    TimeUp
        The time limit is reached before the table is filled.

    Notes
    -----
    Source: Aryl, Appendix D, Algorithm 2, line 20. The paper gives no details. This is the textbook dynamic
    program, with one row of best values per group, traced back from the end.

    Complexity: O(I C) time and O(G C) memory for G groups, I items and capacity C.
    """
    useful = min(capacity, sum(max((weight for weight, _ in items), default=0) for items in groups))
    refuse_large(len(groups), sum(map(len, groups)), useful)
    best = np.zeros((len(groups) + 1, useful + 1))
    for before, after, items in zip(best, best[1:], groups, strict=False):
        if budget.passed:
            raise TimeUp("the time limit expired before the table of groups by GPUs was filled")
        after[:] = before
        for weight, value in items:
            if weight <= useful:
                target = after[weight:]
                np.maximum(target, before[: useful + 1 - weight] + value, out=target)
    chosen, left = [0] * len(groups), useful
    for place in reversed(range(len(groups))):
        if best[place + 1, left] == best[place, left]:
            continue
        for number, (weight, value) in enumerate(groups[place], start=1):
            if weight <= left and best[place, left - weight] + value == best[place + 1, left]:
                chosen[place] = number
                left -= weight
                break
    return chosen


def refuse_large(groups: int, items: int, capacity: int) -> None:
    """Raise `Unsupported` if a table would take too much memory or time."""
    if groups * (capacity + 1) > LARGEST_TABLE or items * (capacity + 1) > LONGEST_RUN:
        raise Unsupported(f"a table of {groups:,} groups by {capacity:,} GPUs is too large")
