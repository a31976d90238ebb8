"""Offline kernel: a compiled simulation of rigid jobs that chooses the jobs to run at every event."""

from typing import Any

import numpy as np

from gsopt.core.numbers.compiled import compiled

Array = np.ndarray[Any, Any]


@compiled
def advance(  # noqa: C901, PLR0912, PLR0915 - a call for each event would cost more than the event
    release: Array,
    gpus: Array,
    shares: Array,
    total: int,
    window: int,
    horizons: Array,
    done: Array,
    slopes: Array,
    left: Array,
    active: Array,
    since: Array,
    chosen: Array,
    state: tuple[float, int, int, int],
    until: float,
    last: int,
    runs: Array,
    at: int,
) -> tuple[tuple[float, int, int, int], int]:
    """Simulate until a time, until a number of events, or until `runs` may be too short for another event.

    The simulation also ends once all jobs are complete. At each event, jobs are sorted by their worth divided
    by their `shares`, and run in this order up to the first one that does not fit. If GPUs are left, an exact
    knapsack chooses again among the last `window` of these jobs and the first `window` of the others.
    Afterwards, the jobs that still fit run as well, in the same order.

    Parameters
    ----------
    release, gpus
        Release dates in ascending order, and numbers of GPUs, by job.
    shares
        The number by which the worth of each job is divided for the sort.
    total
        Number of GPUs of the cluster.
    window
        Number of jobs on each side among which the knapsack chooses; 0 for no knapsack.
    horizons, slopes
        The worth of a job is its slope plus ``max(horizon / left - 1, 0)``.
    done
        Remaining time at which a job counts as complete.
    left
        Remaining time of each job; updated.
    active, since, chosen
        The released, incomplete jobs; the time since which each job has been running, or a
        negative number; and the number of the last event that chose each job. All are updated.
    state
        The current time, and the numbers of active jobs, of released jobs and of events.
    until, last
        No event begins at or after the time `until`, or once the number of events in the state is `last`.
    runs
        Filled with the runs that have ended, by completion or preemption: rows with job, start and end.
    at
        Number of rows of `runs` in use.

    Returns
    -------
    tuple
        The new state, and the number of rows of `runs` in use.
    """
    now, there, released, event = state
    jobs = len(release)
    best = np.empty(total + 1)
    takes = np.zeros((2 * window + 1, total + 1), dtype=np.bool_)
    while (released < jobs or there > 0) and now < until and event < last and at + 2 * there + 2 <= len(runs):
        if there == 0:
            now = max(now, release[released])
            if now >= until:
                break
        while released < jobs and release[released] <= now:
            active[there] = released
            there += 1
            released += 1
        event += 1
        wanted = 0
        for place in range(there):
            wanted += gpus[active[place]]
        if wanted <= total:  # all of them run
            for place in range(there):
                chosen[active[place]] = event
        else:
            key = np.empty(there)
            for place in range(there):  # insertion sort: the order hardly changes from event to event
                job, rank = active[place], place
                own = -(slopes[job] + max(horizons[job] / left[job] - 1.0, 0.0)) / shares[job]
                while rank > 0 and (key[rank - 1] > own or (key[rank - 1] == own and active[rank - 1] > job)):
                    key[rank], active[rank] = key[rank - 1], active[rank - 1]
                    rank -= 1
                key[rank], active[rank] = own, job
            free, first = total, 0
            while first < there and gpus[active[first]] <= free:
                free -= gpus[active[first]]
                first += 1
            begin = first
            if window > 0 and free > 0 and first < there:
                begin, end = max(0, first - window), min(there, first + window)
                for rank in range(begin, first):
                    free += gpus[active[rank]]
                for room in range(free + 1):
                    best[room] = 0.0
                for rank in range(begin, end):
                    size = gpus[active[rank]]
                    worth = -key[rank] * size
                    for room in range(free, -1, -1):
                        takes[rank - begin, room] = size <= room and best[room - size] + worth > best[room]
                        if takes[rank - begin, room]:
                            best[room] = best[room - size] + worth
                room = free
                for rank in range(end - 1, begin - 1, -1):
                    job = active[rank]
                    if takes[rank - begin, room]:
                        chosen[job] = event
                        room -= gpus[job]
                free = room
            for rank in range(there):
                job = active[rank]
                if rank < begin:
                    chosen[job] = event
                elif chosen[job] != event and gpus[job] <= free:
                    chosen[job] = event
                    free -= gpus[job]
        span = np.inf
        for place in range(there):
            job = active[place]
            if chosen[job] == event:
                span = min(span, left[job])
                if since[job] < 0.0:
                    since[job] = now
            elif since[job] >= 0.0:
                runs[at, 0], runs[at, 1], runs[at, 2] = job, since[job], now
                at += 1
                since[job] = -1.0
        after = now + span
        if released < jobs and release[released] < after:
            after = release[released]
            span = min(span, after - now)
        kept = 0
        for place in range(there):
            job = active[place]
            if chosen[job] == event:
                left[job] -= span
                if left[job] <= done[job]:
                    runs[at, 0], runs[at, 1], runs[at, 2] = job, since[job], after
                    at += 1
                    continue
            active[kept] = job
            kept += 1
        now, there = after, kept
    return (now, there, released, event), at
