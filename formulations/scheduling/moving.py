"""Moving: annealing of a list of segments, in kernels that are compiled if numba is installed."""

from math import log1p
from typing import NamedTuple

from formulations.scheduling.segments import Integers, Reals, Segments
from formulations.scheduling.serving import Marks, ReplayState, replay
from gsopt.core.numbers.compiled import compiled, inner
from gsopt.core.numbers.tolerances import IMPROVEMENT

#: Number of uniform draws per step: for the kind of move, the place, the distance and the acceptance.
DRAWS = 4

#: Fraction of the steps that move one segment; the others move all segments of a job.
_SINGLE = 0.75


class Lists(NamedTuple):
    """The list being annealed, the best list, and a spare one."""

    current: Integers
    best: Integers
    spare: Integers

    @classmethod
    def of(cls, names: Integers) -> "Lists":
        """Start from a list, which is copied three times."""
        return cls(names.copy(), names.copy(), names.copy())


@compiled
def move(names: Integers, source: int, target: int) -> None:
    """Move the entry at one index of a list to another index."""
    job = names[source]
    step = 1 if source < target else -1
    for place in range(source, target, step):
        names[place] = names[place + step]
    names[target] = job


@compiled
def shift(names: Integers, job: int, places: int, shifted: Integers) -> None:
    """Move all entries of a job by `places`, or as far as the list allows, and write the list to `shifted`.

    The entries of other jobs keep their order.
    """
    size = len(names)
    for place in range(size):
        shifted[place] = -1
    if places > 0:
        last = size - 1
        for place in range(size - 1, -1, -1):
            if names[place] == job:
                target = min(place + places, last)
                shifted[target] = job
                last = target - 1
    else:
        least = 0
        for place in range(size):
            if names[place] == job:
                target = max(place + places, least)
                shifted[target] = job
                least = target + 1
    target = 0
    for place in range(size):
        if names[place] != job:
            while shifted[target] >= 0:
                target += 1
            shifted[target] = names[place]
            target += 1


@inner
def _distance(draws: Reals, row: int, distances: Integers) -> int:
    """Draw a non-zero number of places to move by, in either direction."""
    kind = draws[row] / _SINGLE if draws[row] < _SINGLE else (draws[row] - _SINGLE) / (1 - _SINGLE)
    most = distances[min(int(kind * len(distances)), len(distances) - 1)]
    distance = int((2 * draws[row + 2] - 1) * most)
    return distance + 1 if distance >= 0 else distance - 1


@compiled
def walk(names: Integers, source: int, distance: int, near: int) -> int:
    """Return the index at a distance from `source`, counting only entries of jobs with similar release dates.

    These are the jobs whose numbers differ by at most `near` from that of the job at `source`; jobs are
    numbered by release date. Jobs that are released much earlier or later rarely run at the same time as this
    job. If the list ends before the distance is reached, its first or last index is returned.
    """
    job, size, left = names[source], len(names), abs(distance)
    step = 1 if distance > 0 else -1
    target = source
    while left > 0 and 0 <= target + step < size:
        target += step
        if abs(names[target] - job) <= near:
            left -= 1
    return target


@inner
def _keep(known: Marks, noted: Marks, mark: int, after: int, difference: float, jobs: int) -> None:
    """Keep the marks of a replay, and add the replay's difference in cost to the later marks."""
    for index in range(mark, after):
        known.there[index] = noted.there[index]
        known.cost[index] = noted.cost[index]
        for place in range(index * jobs, index * jobs + noted.there[index]):
            known.jobs[place] = noted.jobs[place]
            known.left[place] = noted.left[place]
    for index in range(after, len(known.there)):
        known.cost[index] += difference


@compiled
def begin(segments: Segments, lists: Lists, state: ReplayState, known: Marks, noted: Marks) -> float:
    """Replay the current list from the beginning, and return its cost."""
    jobs = len(segments.work)
    cost, after = replay(segments, lists.current, state, known, noted, jobs, 0.0, float("inf"))
    _keep(known, noted, 0, after, 0.0, jobs)
    return cost


@compiled
def anneal(
    segments: Segments,
    lists: Lists,
    state: ReplayState,
    known: Marks,
    noted: Marks,
    distances: Integers,
    near: int,
    draws: Reals,
    heat: Reals,
    total: float,
    least: float,
) -> tuple[float, float]:
    """Move segments or jobs in the list by simulated annealing; return the costs of the current and best lists.

    `total` and `least` are these costs at the beginning. Each step has its temperature in `heat`, in units of
    the cost, and `DRAWS` uniform random numbers in `draws`. Each move is limited by one of the maximum
    distances in `distances`, in places. `near` is explained in `walk`.
    """
    size, jobs = len(lists.current), len(segments.work)
    for step in range(len(heat)):
        row = step * DRAWS
        source = int(draws[row + 1] * size)
        target = walk(lists.current, source, _distance(draws, row, distances), near)
        job = lists.current[source]
        if draws[row] < _SINGLE:
            if lists.current[target] == job:
                continue
            move(lists.current, source, target)
        else:
            shift(lists.current, job, target - source, lists.spare)
            _exchange(lists.current, lists.spare)
        limit = total - heat[step] * log1p(-draws[row + 3])
        cost, after = replay(segments, lists.current, state, known, noted, job, total, limit)
        if cost <= limit:
            _keep(known, noted, job // known.stride, after, cost - total, jobs)
            total = cost
            if total < least * (1 - IMPROVEMENT):
                least = total
                for place in range(size):
                    lists.best[place] = lists.current[place]
        elif draws[row] < _SINGLE:
            move(lists.current, target, source)
        else:
            _exchange(lists.current, lists.spare)
    return total, least


@inner
def _exchange(one: Integers, other: Integers) -> None:
    for place in range(len(one)):
        one[place], other[place] = other[place], one[place]
