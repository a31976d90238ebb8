"""Kernel: the minimum cost of completing each job at given prices, job by job, using numba if installed."""

from typing import Any

import numpy as np

from gsopt.core.numbers.compiled import compiled

Array = np.ndarray[Any, Any]


@compiled
def evaluate_jobs(  # noqa: C901, PLR0912, PLR0915 - a call for each item would cost more than the item
    edges: Array,
    prices: Array,
    cell: Array,
    release: Array,
    work: Array,
    weight: Array,
    kind: Array,
    first: Array,
    gpus: Array,
    speed: Array,
    values: Array,
    slopes: Array,
    sizes: Array,
    usage: Array,
) -> None:
    """Evaluate all jobs, and store values, slopes, sizes, and usage by kind and cell in the last four arrays.

    For each job, the kernel goes through the cells from its release date on. It keeps the cheapest items that
    together do all the work, sorted by cost. Each item is a run on one segment of the hull for the length of
    one cell. In each cell, the kernel first computes the cost of completing there, with items of this cell in
    place of the most expensive ones. Then it merges the cell's own items into the list. It stops when no later
    cell can be cheaper than the best one so far.

    Parameters
    ----------
    edges, prices
        As in `gsopt.schedule.bounds.prices.evaluation.evaluate`, plus the last cell, which has no end and a
        price of 0.
    cell
        Cells in which the jobs are released, one per job.
    release, work, weight, kind, first, gpus, speed
        The jobs' arrays, as in `gsopt.schedule.bounds.prices.demand.Demand`.
    """
    cells = prices.shape[1]
    most = 1
    for job in range(len(release)):
        most = max(most, first[job + 1] - first[job])
    room = cells * most + most
    cost_of = np.empty(room)
    amount_of = np.empty(room)
    place_of = np.empty(room, dtype=np.int64)
    rate_of = np.empty(room)
    best_amount = np.empty(room)
    best_place = np.empty(room, dtype=np.int64)
    best_rate = np.empty(room)
    last = edges[cells - 1]
    cheapest = np.empty((prices.shape[0], cells))
    for row in range(prices.shape[0]):
        least = np.inf
        for place in range(cells - 2, -1, -1):
            least = min(least, prices[row, place])
            cheapest[row, place] = least
        cheapest[row, cells - 1] = 0.0
    for job in range(len(release)):
        begin, end = first[job], first[job + 1]
        row = kind[job]
        need_all = work[job]
        heavy = weight[job]
        start = cell[job]
        floor = need_all * gpus[begin] / speed[begin] * cheapest[row, start]
        count = 0
        amount = 0.0
        cost = 0.0
        best = np.inf
        slope = 0.0
        size = 0.0
        best_count = 0
        for place in range(start, cells):
            now = max(edges[place], release[job])
            waited = heavy * (now - release[job])
            if waited + floor >= best and heavy * (last - release[job]) >= best:
                break
            length = edges[place + 1] - now
            price = prices[row, place]
            # complete in this cell: the corner that is cheapest when seconds count too, then further segments
            corner = begin
            total_gpus = gpus[begin]
            total_speed = speed[begin]
            own_gpus = total_gpus
            own_speed = total_speed
            own_cost = (price * total_gpus + heavy) / total_speed
            for step in range(begin + 1, end):
                total_gpus += gpus[step]
                total_speed += speed[step]
                here = (price * total_gpus + heavy) / total_speed
                if here < own_cost:
                    own_cost = here
                    corner = step
                    own_gpus = total_gpus
                    own_speed = total_speed
            need = need_all - amount
            total = waited + cost
            top = count
            left = amount_of[count - 1] if count > 0 else 0.0
            own = 0
            highest = 0.0
            for step in range(corner, end):
                if step == corner:
                    rate = own_gpus / own_speed
                    here = own_cost
                    space = own_speed * length
                else:
                    rate = gpus[step] / speed[step]
                    here = price * rate
                    space = speed[step] * length
                taken = 0.0
                if need > 0.0:
                    part = min(space, need)
                    need -= part
                    space -= part
                    taken += part
                    total += here * part
                while need <= 0.0 and space > 0.0 and top > 0 and cost_of[top - 1] > here:
                    part = min(space, left)
                    total += (here - cost_of[top - 1]) * part
                    taken += part
                    space -= part
                    left -= part
                    if left <= 0.0:
                        top -= 1
                        left = amount_of[top - 1] if top > 0 else 0.0
                if taken <= 0.0:
                    break
                highest = here
                amount_of[room - 1 - own] = taken
                rate_of[room - 1 - own] = rate
                own += 1
                if space > 0.0:
                    break
            dearest = max(highest, cost_of[count - 1] if count > 0 else 0.0)
            size = max(size, waited + cost + need_all * dearest)
            if need <= 0.0 and total < best:
                best = total
                slope = max(highest, cost_of[top - 1] if top > 0 else 0.0)
                best_count = 0
                for index in range(top):
                    best_amount[best_count] = amount_of[index] if index < top - 1 else left
                    best_place[best_count] = place_of[index]
                    best_rate[best_count] = rate_of[index]
                    best_count += 1
                for index in range(own):
                    best_amount[best_count] = amount_of[room - 1 - index]
                    best_place[best_count] = place
                    best_rate[best_count] = rate_of[room - 1 - index]
                    best_count += 1
            # from now on the cell is one in which the job can run before it completes
            for step in range(begin, end):
                rate = gpus[step] / speed[step]
                here = price * rate
                if amount >= need_all and here >= cost_of[count - 1]:
                    break
                space = min(speed[step] * length, need_all)
                if space <= 0.0:
                    break
                index = count
                while index > 0 and cost_of[index - 1] > here:
                    cost_of[index] = cost_of[index - 1]
                    amount_of[index] = amount_of[index - 1]
                    place_of[index] = place_of[index - 1]
                    rate_of[index] = rate_of[index - 1]
                    index -= 1
                cost_of[index] = here
                amount_of[index] = space
                place_of[index] = place
                rate_of[index] = rate
                count += 1
                amount += space
                cost += here * space
                while count > 0 and amount - amount_of[count - 1] >= need_all:
                    count -= 1
                    amount -= amount_of[count]
                    cost -= cost_of[count] * amount_of[count]
                if amount > need_all:
                    part = amount - need_all
                    amount_of[count - 1] -= part
                    cost -= cost_of[count - 1] * part
                    amount = need_all
        values[job] = best
        slopes[job] = slope
        sizes[job] = size
        for index in range(best_count):
            usage[row, best_place[index]] += best_amount[index] * best_rate[index]
