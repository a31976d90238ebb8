"""Auction: GPUs allocated to maximize the product of the bidders' values, with hidden payments."""

from collections.abc import Iterable, Mapping, Sequence
from math import isclose, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gsopt.core.numbers.tolerances import SUM

Floats = NDArray[np.float64]

#: The value, above 0, of each number of GPUs, including 0 GPUs.
Bid = Mapping[int, float]


class Award(NamedTuple):
    """The number of GPUs awarded to a bidder, and the fraction of them that it keeps after it has paid."""

    gpus: int
    part: float  # of the GPUs that it keeps after it has paid

    def kept(self, counts: Iterable[int]) -> int:
        """Return the smallest of `counts` that is at least the number of GPUs kept, up to rounding."""
        left = self.gpus * self.part * (1 - SUM)
        return min(count for count in counts if count >= left)


def auction(bids: Sequence[Bid], gpus: int) -> list[Award]:
    """Allocate GPUs to maximize the product of the bidders' values, and compute the fraction that each keeps.

    The fraction is the product of the other bidders' values in the allocation, divided by the largest product
    that they could have without this bidder. A dynamic program over bidders and GPUs, in logarithms, finds the
    best allocation. To leave out a bidder, the tables for the bidders before and after this one are combined.
    In a tie, later bidders get the fewest GPUs. O(B N (C + 1)) for B bidders, N GPUs and C numbers per bid.

    Source: Themis (NSDI 2020), section 5.1 (partial allocation mechanism with hidden payments).
    """
    worths = [{count: log(value) for count, value in bid.items()} for bid in bids]
    ahead, behind = _tables(worths, gpus), _tables(worths[::-1], gpus)[::-1]
    counts, left = [0] * len(bids), gpus
    for place in reversed(range(len(bids))):
        counts[place] = _best(worths[place], ahead[place], left)
        left -= counts[place]
    total = sum(worth[count] for worth, count in zip(worths, counts, strict=True))
    awards = []
    for place, (worth, count) in enumerate(zip(worths, counts, strict=True)):
        without = float(np.max(ahead[place] + behind[place + 1][::-1]))
        awards.append(Award(count, min(1.0, float(np.exp(total - worth[count] - without)))))
    return awards


def _tables(worths: Sequence[Mapping[int, float]], gpus: int) -> list[Floats]:
    """Return the largest sums of log-values of the first 0, 1, ... bidders on at most 0, 1, ... GPUs."""
    tables = [np.zeros(gpus + 1)]
    for worth in worths:
        best = np.full(gpus + 1, -np.inf)
        for count, value in worth.items():
            if count <= gpus:
                best[count:] = np.maximum(best[count:], tables[-1][: gpus + 1 - count] + value)
        tables.append(best)
    return tables


def _best(worth: Mapping[int, float], before: Floats, left: int) -> int:
    """Return the fewest GPUs for a bidder with which the largest sum is attained, up to rounding."""
    total = {count: worth[count] + float(before[left - count]) for count in sorted(worth) if count <= left}
    most = max(total.values())
    return next(count for count, value in total.items() if isclose(value, most, rel_tol=SUM, abs_tol=SUM))
