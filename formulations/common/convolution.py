"""Convolution: combining the minimum costs of several parts, and dividing a number of units among the parts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Minimum costs, by number of units along the last axis.
Costs = NDArray[Any]


def convolve(left: Costs, right: Costs, most: int, never: int) -> Costs:
    """Return the (min, +) convolution along the last axis, up to index `most`; `never` stands for infinity."""
    if left.shape[-1] > right.shape[-1]:
        left, right = right, left
    size = min(left.shape[-1] + right.shape[-1] - 1, most + 1)
    shape = (*np.broadcast_shapes(left.shape[:-1], right.shape[:-1]), size)
    result = np.full(shape, never, dtype=left.dtype)
    for shift in range(min(left.shape[-1], size)):
        reach = min(right.shape[-1], size - shift)
        part = result[..., shift : shift + reach]
        np.minimum(part, left[..., shift : shift + 1] + right[..., :reach], out=part)
    return result


def split(parts: Sequence[Costs], sums: Sequence[Costs], count: int) -> list[int]:
    """Divide `count` units among the parts at minimum total cost, and return how many each part gets.

    `parts` holds the costs of each part by number of units, and `sums` holds the running convolutions of the
    parts: entry i combines the parts 0 to i.
    """
    shares = []
    for part, before in zip(parts[:0:-1], sums[-2::-1], strict=True):
        least = max(0, count - before.size + 1)
        most = min(part.size - 1, count)
        costs = part[least : most + 1] + before[count - most : count - least + 1][::-1]
        share = least + int(costs.argmin())
        shares.append(share)
        count -= share
    return [count, *reversed(shares)]
