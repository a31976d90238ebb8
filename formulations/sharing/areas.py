"""Areas: a lower bound on the completion times of jobs that share GPUs and may start at any time."""

from typing import Any

import numpy as np

from gsopt.core.numbers.compiled import inner

Array = np.ndarray[Any, Any]


@inner
def area_bound(release: Array, left: Array, areas: Array, alone: Array, now: float) -> float:
    """Return a lower bound on the sum of completion times, from areas of work on a single fast machine.

    Each second of work of job j counts w[j] on each of its GPUs. The weights are so small that a GPU, alone or
    shared, earns at most 1 per second: w[j] / xi[j, k] + w[k] / xi[k, j] <= 1 for all pairs that may share,
    where xi[j, k] is the slowdown of j by k. So a machine of speed M, the number of GPUs, could process the
    areas w[j] G[j] p[j] of all jobs (G GPUs, p seconds) in no more time than the cluster. The result is the
    larger of two bounds. The first is the sum of ends on this machine under shortest remaining area first,
    where the k-th end is at least the k-th smallest entry of `alone`. The second is the sum of mean busy times
    under smallest area first, plus half of the remaining work of each job, whose speed is at most 1.

    Each row of `areas` holds, for one choice of weights, the seconds of work `left` times the job's GPUs and
    weight, divided by the number of all GPUs. With several rows, the latest k-th end and the largest second sum
    of all rows count. No job ends before `alone`.

    Source: mean busy times after Goemans (1997), as in `gsopt.schedule.bounds.mean_busy_time`; the weights are
    gsopt's own.
    """
    ends, busy, last = in_order(alone), now * 0, now * 0
    for way in range(len(areas)):
        serve(release, areas[way], now, ends, True)
        busy = max(busy, serve(release, areas[way], now, alone, False))
    for job in range(len(left)):
        last += ends[job]
        busy += left[job] / 2
    return max(last, busy)


@inner
def in_order(times: Array) -> Array:
    """Return a few times in ascending order, without `numpy.sort`, which takes a second to compile."""
    found = np.zeros_like(times)
    for number in range(len(times)):
        place = number
        while place > 0 and found[place - 1] > times[number]:
            found[place] = found[place - 1]
            place -= 1
        found[place] = times[number]
    return found


@inner
def serve(  # noqa: C901 - compiled, where a call is no cheaper to read
    release: Array, area: Array, now: float, ends: Array, shortest_rest: bool
) -> float:
    """Process areas one at a time, with preemption, and return the sum of their mean busy times.

    With `shortest_rest`, the smallest remaining area goes first, and the entries of `ends`, which are lower
    bounds on the first, second, ... end, are raised to the ends of the areas. Otherwise, the smallest total
    area goes first, and `ends` is not used.
    """
    rest = area.copy()
    time, busy, done = now, now * 0, 0
    for job in range(len(area)):
        if area[job] <= 0:
            busy += max(release[job], now)
            done += 1
    while done < len(area):
        job, arrival, least = -1, np.inf, np.inf
        for each in range(len(area)):
            if rest[each] > 0:
                key = rest[each] if shortest_rest else area[each]
                if release[each] > time:
                    arrival = min(arrival, release[each])
                elif key < least:
                    job, least = each, key
        if job < 0:
            time = arrival
            continue
        step = min(rest[job], arrival - time)
        busy += (time + step / 2) * step / area[job]
        if step < rest[job]:
            rest[job] -= step
            time = arrival
        else:
            rest[job] = 0
            time += step
            if shortest_rest:
                ends[done] = max(ends[done], time)
            done += 1
    return busy
