"""Serving: replays of lists of segments, in kernels that are compiled if numba is installed.

A list names each job as often as it has segments. At each arrival and completion, the list is traversed, and
each job named gets its next segment if enough GPUs are free.
"""

from typing import NamedTuple

import numpy as np

from formulations.scheduling.segments import Integers, Reals, Segments
from gsopt.core.numbers.compiled import compiled, inner
from gsopt.core.numbers.tolerances import WORK_DONE


class ReplayState(NamedTuple):
    """The arrays that a replay writes to."""

    left: Reals  # work left of each job; negative when it is complete
    # here, running: the jobs that are present, and those that run in the order in which they were served
    here: Integers
    running: Integers
    waiting: Integers  # places in the list of the jobs that are present, ascending
    level: Integers  # segments that each job has
    place: Integers  # place in the list of each segment

    @classmethod
    def of(cls, segments: Segments) -> "ReplayState":
        """Allocate the arrays for replays of the given segments."""
        jobs, size = len(segments.work), len(segments.job)
        return cls(
            left=np.zeros(jobs),
            here=np.zeros(jobs, dtype=np.int64),
            running=np.zeros(jobs, dtype=np.int64),
            waiting=np.zeros(size, dtype=np.int64),
            level=np.zeros(jobs, dtype=np.int64),
            place=np.zeros(size, dtype=np.int64),
        )


class Marks(NamedTuple):
    """Saved states at the arrivals of every `stride`-th job, from which a replay can start."""

    stride: int  # jobs from one mark to the next
    there: Integers  # number of jobs present just before each mark; -1 if no replay has reached it
    cost: Reals  # lower bound on the cost of the schedule that is known at each mark
    # jobs, left: for each mark, a row with the jobs present, by number, and with their remaining work
    jobs: Integers
    left: Reals

    @classmethod
    def of(cls, jobs: int, most: int, cost: float) -> "Marks":
        """Allocate at most `most` marks.

        Only the state at the first mark is known: no job is present, and the cost is the given one.
        """
        stride = -(-jobs // most)
        size = -(-jobs // stride)
        marks = cls(
            stride=stride,
            there=np.full(size, -1),
            cost=np.zeros(size),
            jobs=np.zeros(size * jobs, dtype=np.int64),
            left=np.zeros(size * jobs),
        )
        marks.there[0], marks.cost[0] = 0, cost
        return marks


class Changes(NamedTuple):
    """Changes in the jobs' numbers of GPUs, as arrays of times, jobs and new numbers."""

    time: Reals
    job: Integers
    gpus: Integers

    @classmethod
    def of(cls, size: int) -> "Changes":
        """Allocate room for the given number of changes."""
        return cls(np.zeros(size), np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64))


@compiled
def locate(segments: Segments, names: Integers, state: ReplayState) -> None:
    """Write the position of each segment in a list to `state.place`."""
    for job in range(len(state.level)):
        state.level[job] = 0
    for place in range(len(names)):
        job = names[place]
        state.place[segments.first[job] + state.level[job]] = place
        state.level[job] += 1
    for job in range(len(state.level)):
        state.level[job] = 0


@inner
def _arrive(segments: Segments, state: ReplayState, job: int, here: int, waiting: int) -> int:
    """Add a job to those present, and return how many places in the list belong to present jobs."""
    state.here[here] = job
    state.left[job] = segments.work[job]
    first, after = segments.first[job], segments.first[job + 1]
    target, source = waiting + after - first - 1, waiting - 1
    for segment in range(after - 1, first - 1, -1):
        while source >= 0 and state.waiting[source] > state.place[segment]:
            state.waiting[target] = state.waiting[source]
            source -= 1
            target -= 1
        state.waiting[target] = state.place[segment]
        target -= 1
    return int(waiting + after - first)


@inner
def _serve(segments: Segments, names: Integers, state: ReplayState, waiting: int) -> int:
    """Hand out GPUs in the order of the list, and return the number of running jobs."""
    free, running = segments.gpus, 0
    for place in range(waiting):
        if free < segments.least_gpus:
            break
        job = names[state.waiting[place]]
        more = segments.more[segments.first[job] + state.level[job]]
        if more <= free:
            if state.level[job] == 0:
                state.running[running] = job
                running += 1
            free -= more
            state.level[job] += 1
    return running


@inner
def _soonest(segments: Segments, state: ReplayState, running: int) -> float:
    """Return the time in seconds until the first of the running jobs completes."""
    soonest = np.inf
    for place in range(running):
        job = state.running[place]
        seconds = state.left[job] / segments.speed[segments.first[job] + state.level[job] - 1]
        soonest = min(soonest, seconds)
    return soonest


@inner
def _work(segments: Segments, state: ReplayState, running: int, seconds: float) -> tuple[float, int]:
    """Let the running jobs work for the given number of seconds, and take their GPUs back.

    Returns the work done per second, as an equivalent number of jobs at full speed, and the number of
    completions.
    """
    worked, complete = 0.0, 0
    for place in range(running):
        job = state.running[place]
        speed = segments.speed[segments.first[job] + state.level[job] - 1]
        state.level[job] = 0
        worked += speed / segments.fastest[job]
        state.left[job] -= speed * seconds
        if state.left[job] <= WORK_DONE * segments.work[job]:
            state.left[job] = -1.0
            complete += 1
    return worked, complete


@inner
def _late(segments: Segments, state: ReplayState, running: int, now: float) -> float:
    """Return the total time in seconds by which the jobs that just completed miss their deadlines."""
    late = 0.0
    for place in range(running):
        job = state.running[place]
        if state.left[job] < 0 and now > segments.due[job]:
            late += now - segments.due[job]
    return late


@inner
def _leave(names: Integers, state: ReplayState, here: int, waiting: int) -> tuple[int, int]:
    """Remove the completed jobs, and return how many jobs and places in the list remain."""
    jobs = places = 0
    for index in range(here):
        job = state.here[index]
        if state.left[job] >= 0:
            state.here[jobs] = job
            jobs += 1
    for index in range(waiting):
        place = state.waiting[index]
        if state.left[names[place]] >= 0:
            state.waiting[places] = place
            places += 1
    return jobs, places


@inner
def _resume(names: Integers, state: ReplayState, marks: Marks, mark: int) -> tuple[int, int]:
    """Restore the jobs present at a mark, and return the numbers of jobs and of their places in the list."""
    here, row, places = marks.there[mark], mark * len(state.left), 0
    for job in range(len(state.left)):
        state.left[job] = -1.0
    for index in range(here):
        job = marks.jobs[row + index]
        state.here[index] = job
        state.left[job] = marks.left[row + index]
    if here > 0:
        for place in range(len(names)):
            if state.left[names[place]] >= 0:
                state.waiting[places] = place
                places += 1
    return here, places


@inner
def _note(segments: Segments, state: ReplayState, marks: Marks, mark: int, here: int, cost: float) -> None:
    """Record the cost and the jobs present at a mark."""
    row = mark * len(segments.work)
    marks.there[mark] = here
    marks.cost[mark] = cost
    for index in range(here):
        job = state.here[index]
        marks.jobs[row + index] = job
        marks.left[row + index] = state.left[job]


@inner
def _is_back(segments: Segments, state: ReplayState, marks: Marks, mark: int, here: int, moved: int) -> bool:
    """Check whether the state equals that of a mark, and the moved job has completed."""
    row = mark * len(segments.work)
    if here != marks.there[mark] or state.left[moved] >= 0:
        return False
    for index in range(here):
        job = state.here[index]
        difference = state.left[job] - marks.left[row + index]
        if job != marks.jobs[row + index] or abs(difference) > WORK_DONE * segments.work[job]:
            return False
    return True


@compiled
def replay(
    segments: Segments,
    names: Integers,
    state: ReplayState,
    known: Marks,
    noted: Marks,
    moved: int,
    total: float,
    limit: float,
) -> tuple[float, int]:
    """Replay a list from the last mark before a moved job arrives, until the state is as before the move.

    At any time, the schedule costs at least the time spent by all jobs and the penalties so far, plus the time
    that the remaining work of each job takes at full speed. So the replay stops as soon as this sum exceeds
    `limit`. `known` holds the marks of the list before the move, and `total` is the cost of that list. If there
    is no such list, `moved` is the number of jobs. New marks are written to `noted`.

    Returns the cost (completion times and penalties; infinity if above the limit), and the number of the first
    mark from which everything is as before.
    """
    jobs, stride = len(segments.work), known.stride
    mark = moved // stride if moved < jobs else 0
    locate(segments, names, state)
    here, waiting = _resume(names, state, known, mark)
    coming, cost = mark * stride, known.cost[mark]
    now = segments.release[coming]
    while here > 0 or coming < jobs:
        if here == 0:
            now = segments.release[coming]
        while coming < jobs and segments.release[coming] <= now:
            if coming % stride == 0:
                mark = coming // stride
                if coming > moved and _is_back(segments, state, known, mark, here, moved):
                    cost += total - known.cost[mark]
                    return (cost if cost <= limit else np.inf), mark
                _note(segments, state, noted, mark, here, cost)
            waiting = _arrive(segments, state, coming, here, waiting)
            here += 1
            coming += 1
        running = _serve(segments, names, state, waiting)
        seconds = _soonest(segments, state, running)
        if coming < jobs and now + seconds >= segments.release[coming]:
            seconds = segments.release[coming] - now
            now = segments.release[coming]
        else:
            now += seconds
        worked, complete = _work(segments, state, running, seconds)
        cost += (here - worked) * seconds
        if complete > 0:
            cost += segments.penalty * _late(segments, state, running, now)
            here, waiting = _leave(names, state, here, waiting)
        if cost > limit:
            return np.inf, 0
    return cost, len(known.there)


@inner
def _write(
    segments: Segments, state: ReplayState, held: Integers, changes: Changes, here: int, now: float, size: int
) -> int:
    """Record changes in GPUs as long as there is room, and return the number of changes so far."""
    for index in range(here):
        job = state.here[index]
        gpus = 0
        for level in range(state.level[job]):
            gpus += segments.more[segments.first[job] + level]
        if gpus != held[job]:
            if size < len(changes.time):
                changes.time[size] = now
                changes.job[size] = job
                changes.gpus[size] = gpus
            size += 1
            held[job] = gpus
    return size


@inner
def _complete(state: ReplayState, running: int, now: float, completions: Reals) -> None:
    """Record the completion times of the jobs that just completed."""
    for place in range(running):
        if state.left[state.running[place]] < 0:
            completions[state.running[place]] = now


@compiled
def trace(
    segments: Segments,
    names: Integers,
    state: ReplayState,
    held: Integers,
    completions: Reals,
    changes: Changes,
) -> int:
    """Replay a list from the beginning, record completions and changes, and return the number of changes.

    A change gives a job another number of GPUs. If `changes` has too little room, the last changes are only
    counted. `held`, the GPUs of each job, must be zero at the start.
    """
    jobs, size = len(segments.work), 0
    locate(segments, names, state)
    here = waiting = coming = 0
    now = 0.0
    while here > 0 or coming < jobs:
        if here == 0:
            now = segments.release[coming]
        while coming < jobs and segments.release[coming] <= now:
            waiting = _arrive(segments, state, coming, here, waiting)
            here += 1
            coming += 1
        running = _serve(segments, names, state, waiting)
        size = _write(segments, state, held, changes, here, now, size)
        seconds = _soonest(segments, state, running)
        if coming < jobs and now + seconds >= segments.release[coming]:
            seconds = segments.release[coming] - now
            now = segments.release[coming]
        else:
            now += seconds
        complete = _work(segments, state, running, seconds)[1]
        if complete > 0:
            _complete(state, running, now, completions)
            here, waiting = _leave(names, state, here, waiting)
    return size
