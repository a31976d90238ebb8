"""Cost to go: the least cost of finishing a training run from any given time, compiled with numba."""

from typing import Any

import numpy as np

from gsopt.core.numbers.compiled import compiled

Array = np.ndarray[Any, Any]

#: Part of a step by which two edges may differ and still be one.
_SAME = 1e-6

#: Parts of the course that are passed in one step, at most, unless there are too many steps.
_PASSED = 2.0


@compiled
def cost_to_go(  # noqa: C901, PLR0912, PLR0915 - a call for each node would cost more than the node
    edges: Array,
    prices: Array,
    weight: float,
    first: Array,
    gpus: Array,
    rates: Array,
    most_steps: int,
    times: Array,
    cell: Array,
    cost: Array,
) -> tuple[int, float]:
    """Compute the cost to go backwards in time, and store it in the last three arrays.

    Row 0 is at the end of the last cell with a price, every further row is one step earlier, and the last row
    is at time 0. Every cell edge is also the end of a step. Steps are no longer than the shortest time that a
    part of the course takes when it pays to run it, unless that makes too many steps. The bound is valid for
    any steps (see `gsopt.schedule.bounds.prices.trainings`).

    Parameters
    ----------
    edges, prices
        The edges of the time cells, and the price of a GPU in each cell.
    weight
        What a unit of time costs.
    first, gpus, rates
        The ways to run in each part of the course. `gpus` and `rates` hold numbers of GPUs and the parts that
        they complete per unit of time. The ways of part p have the indices from ``first[p]`` up to, but not
        including, ``first[p + 1]``.
    most_steps
        The largest number of steps that do not end at a cell edge.
    times, cell, cost
        Filled with the time of each row, the time cell between it and the row before, and the cost by row and
        part.

    Returns
    -------
    tuple
        The number of steps, and the largest number of roundings of a cost along any path through them.
    """
    parts = len(first) - 1
    cost[0, parts] = 0.0
    for part in range(parts - 1, -1, -1):
        fastest = 0.0
        for way in range(first[part], first[part + 1]):
            fastest = max(fastest, rates[way])
        cost[0, part] = cost[0, part + 1] + weight / fastest
    place = len(prices) - 1
    while place >= 0 and prices[place] <= 0.0:
        place -= 1
    now = edges[place + 1]
    times[0] = now
    row = 0
    rounded = 2.0 * parts
    free = most_steps
    while place >= 0:
        price = prices[place]
        fastest = 0.0
        for part in range(parts):
            slope = cost[row, part + 1] - cost[row, part]
            least = 0.0
            rate = 0.0
            for way in range(first[part], first[part + 1]):
                here = price * gpus[way] + rates[way] * slope
                if here < least:
                    least = here
                    rate = rates[way]
            fastest = max(fastest, rate)
        span = now - edges[place]
        length = span
        if free > 0:
            length = min(span, max(span / max(1.0, np.ceil(span * fastest * (1 - _SAME))), now / free))
        if span - length <= _SAME * length:  # so that rounding makes no tiny steps
            length = span
        row += 1
        cell[row] = place
        cost[row, parts] = 0.0
        is_first = True
        while True:
            after = edges[place] if length == span else now - length
            length = now - after
            passing = 0.0
            for part in range(parts - 1, -1, -1):
                slope = cost[row - 1, part + 1] - cost[row - 1, part]
                standing = weight + (cost[row - 1, part + 1] - cost[row, part + 1]) / length
                least = 0.0
                beside = np.inf
                rate = 0.0
                for way in range(first[part], first[part + 1]):
                    paid = price * gpus[way]
                    least = min(least, paid + rates[way] * slope)
                    here = (standing + paid) / rates[way]
                    if here < beside:
                        beside = here
                        rate = rates[way]
                cost[row, part] = cost[row - 1, part] + length * (weight + least)
                if cost[row, part + 1] + beside < cost[row, part]:
                    cost[row, part] = cost[row, part + 1] + beside
                    passing = max(passing, rate)
            # Whoever passes many parts in a step is seen too coarsely; then the step is shortened, once.
            if not is_first or free == 0 or passing * length <= _PASSED:
                break
            is_first = False
            fastest = max(fastest, passing)
            length = max(length / np.ceil(passing * length / _PASSED), min(length, now / free))
            if span - length <= _SAME * length:
                length = span
        times[row] = after
        rounded += 1.0 + 2.0 * length * fastest
        now = after
        if length == span:
            place -= 1
        else:
            free -= 1
    return row, rounded


@compiled
def spread_usage(
    steps: int,
    prices: Array,
    weight: float,
    first: Array,
    gpus: Array,
    rates: Array,
    times: Array,
    cell: Array,
    cost: Array,
    share: Array,
    usage: Array,
) -> None:
    """Add the derivatives of the cost by the prices to the usage by cell, for shares of jobs at its nodes.

    The function follows the computation of `cost_to_go` forwards in time: each node passes its share on to the
    nodes from which its cost was computed. `share` is overwritten.
    """
    parts = len(first) - 1
    for row in range(steps, 0, -1):
        length = times[row - 1] - times[row]
        price = prices[cell[row]]
        for part in range(parts):
            own = share[row, part]
            if own == 0.0:
                continue
            slope = cost[row - 1, part + 1] - cost[row - 1, part]
            standing = weight + (cost[row - 1, part + 1] - cost[row, part + 1]) / length
            least = 0.0
            beside = np.inf
            on = -1
            past = -1
            for way in range(first[part], first[part + 1]):
                paid = price * gpus[way]
                here = paid + rates[way] * slope
                if here < least:
                    least = here
                    on = way
                here = (standing + paid) / rates[way]
                if here < beside:
                    beside = here
                    past = way
            if cost[row - 1, part] + length * (weight + least) <= cost[row, part + 1] + beside:
                if on < 0:
                    share[row - 1, part] += own
                else:
                    moved = rates[on] * length
                    share[row - 1, part] += own * (1 - moved)
                    share[row - 1, part + 1] += own * moved
                    usage[cell[row]] += own * gpus[on] * length
            else:
                moved = 1 / (rates[past] * length)
                share[row, part + 1] += own * (1 - moved)
                share[row - 1, part + 1] += own * moved
                usage[cell[row]] += own * gpus[past] / rates[past]
