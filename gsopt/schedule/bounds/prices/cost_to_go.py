"""Cost to go: compiled functions for lower bounds on the cost of finishing a training run from any time on."""

from typing import Any

import numpy as np

from gsopt.core.numbers.compiled import compiled

Array = np.ndarray[Any, Any]

#: Fraction of a step by which two edges may differ and still count as one.
_SAME = 1e-6

#: Largest number of parts of the course that a job may pass in one step, unless that makes too many steps.
_PASSED = 2.0


@compiled
def cost_to_go(  # noqa: C901, PLR0912, PLR0915 - a call for each node would cost more than the node
    edges: Array,
    prices: Array,
    weight: float,
    first: Array,
    kinds: Array,
    gpus: Array,
    rates: Array,
    most_steps: int,
    times: Array,
    cell: Array,
    cost: Array,
) -> tuple[int, float]:
    """Compute lower bounds on costs to go, from the last time to the first, and fill in the last three arrays.

    Row 0 is the end of the last cell with a price, every further row is one step earlier, and the last row is
    time 0. Every edge of a cell is the end of a step. The bound is valid for any steps (see
    `gsopt.schedule.bounds.prices.trainings`).

    Parameters
    ----------
    edges, prices
        The edges of the time cells, and the price of a GPU in each cell, by row of prices.
    weight
        The cost of a unit of time.
    first, kinds, gpus, rates
        The ways to run in each part of the course. For each way, `kinds`, `gpus` and `rates` contain the row
        of prices that it pays, its number of GPUs, and the number of parts that it completes per unit of
        time. The ways of part p have the indices from ``first[p]`` up to, but not including,
        ``first[p + 1]``.
    most_steps
        The largest number of steps that do not end at a cell edge.
    times, cell, cost
        Filled with the time of each row, the time cell between the row and the previous one, and the cost by
        row and part.

    Returns
    -------
    tuple
        The number of steps, and the largest number of times that a cost is rounded on any path through them.
    """
    parts = len(first) - 1
    cost[0, parts] = 0.0
    for part in range(parts - 1, -1, -1):
        fastest = 0.0
        for way in range(first[part], first[part + 1]):
            fastest = max(fastest, rates[way])
        cost[0, part] = cost[0, part + 1] + weight / fastest
    place = prices.shape[1] - 1
    while place >= 0 and prices[:, place].max() <= 0.0:
        place -= 1
    now = edges[place + 1]
    times[0] = now
    row = 0
    rounded = 2.0 * parts
    free = most_steps
    paid = np.empty(len(gpus))
    while place >= 0:
        for way in range(len(gpus)):
            paid[way] = prices[kinds[way], place] * gpus[way]
        fastest = 0.0
        for part in range(parts):
            slope = cost[row, part + 1] - cost[row, part]
            least = 0.0
            rate = 0.0
            for way in range(first[part], first[part + 1]):
                here = paid[way] + rates[way] * slope
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
                    least = min(least, paid[way] + rates[way] * slope)
                    here = (standing + paid[way]) / rates[way]
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
    kinds: Array,
    gpus: Array,
    rates: Array,
    times: Array,
    cell: Array,
    cost: Array,
    share: Array,
    usage: Array,
) -> None:
    """Add the derivatives of the cost with respect to the prices to `usage`, by row of prices and cell.

    The function repeats the computation of `cost_to_go` forwards in time: each node (a time and a position in
    the course) passes its jobs on to the nodes from which its cost was computed. `share`, the number of jobs at
    each node, is overwritten.
    """
    parts = len(first) - 1
    paid = np.empty(len(gpus))
    for row in range(steps, 0, -1):
        length = times[row - 1] - times[row]
        place = cell[row]
        for way in range(len(gpus)):
            paid[way] = prices[kinds[way], place] * gpus[way]
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
                here = paid[way] + rates[way] * slope
                if here < least:
                    least = here
                    on = way
                here = (standing + paid[way]) / rates[way]
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
                    usage[kinds[on], place] += own * gpus[on] * length
            else:
                moved = 1 / (rates[past] * length)
                share[row, part + 1] += own * (1 - moved)
                share[row - 1, part + 1] += own * moved
                usage[kinds[past], place] += own * gpus[past] / rates[past]
