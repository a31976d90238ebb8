"""Local search: good schedules from orders of priority, to start the exact methods from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from random import Random

from formulations.deadline import Deadline
from formulations.scheduling.instance import Instance, Mode
from formulations.scheduling.order import Step, Timetable, best_timetable, event_order

#: Share of a job's work that counts as rounding.
_ROUNDING = 1e-12

#: Relative improvement below which a move is not worth making.
_IMPROVES = 1e-9

#: Sweeps over all moves, at most, from one start.
_SWEEPS = 20


@dataclass(frozen=True)
class Priorities:
    """An order of priority, and the most GPUs that each job takes.

    Attributes
    ----------
    order
        The jobs by number, the first served first.
    modes
        Modes that each job may use, the fastest first.
    """

    order: tuple[int, ...]
    modes: tuple[tuple[Mode, ...], ...]


def list_schedule(instance: Instance, priorities: Priorities) -> Timetable:
    """Serve the jobs by priority at every arrival and completion: each takes its fastest mode that fits."""
    steps: list[Step] = []
    completions = _serve(instance, priorities, steps)
    return Timetable(tuple(steps), tuple(completions))


def local_search(instance: Instance, deadline: Deadline, *, seed: int = 0) -> Timetable | None:
    """Search orders of priority by moving one job at a time, then make the best of the order of events.

    Starts: by least area, by least time, by earliest completion alone, by the fluid fair share's order where
    there are fair deadlines.

    Returns
    -------
    Timetable or None
        The best timetable that keeps every job's deadline; None when none was found.
    """
    best: Timetable | None = None
    random = Random(seed)
    orders: list[tuple[int, ...]] = []
    for start in _starts(instance):
        found = _descend(instance, start, deadline, random)
        timetable = list_schedule(instance, found)
        order = event_order(instance, timetable.completions)
        if order in orders:
            continue
        orders.append(order)
        better = best_timetable(instance, order, known=[timetable], deadline=deadline)
        for candidate in (timetable, better):
            if candidate is not None and _fair(instance, candidate):
                best = candidate if best is None or candidate.total < best.total else best
        if deadline.passed:
            break
    return best


def _starts(instance: Instance) -> Iterator[Priorities]:
    jobs = range(len(instance))
    modes = tuple(tuple(reversed(instance.modes[job])) for job in jobs)
    keys = [instance.area, instance.height, instance.earliest]
    if min(instance.deadline) < inf:
        keys.insert(0, instance.deadline.__getitem__)
    for key in keys:
        yield Priorities(tuple(sorted(jobs, key=key)), modes)


def _descend(instance: Instance, start: Priorities, deadline: Deadline, random: Random) -> Priorities:
    """Move one job to another place, or change the most GPUs it takes, while that improves the schedule."""
    best, value = start, _value(instance, start)
    for _ in range(_SWEEPS):
        before = value
        jobs = list(range(len(instance)))
        random.shuffle(jobs)
        for job in jobs:
            for candidate in _moves(instance, best, job):
                found = _value(instance, candidate)
                if found < value * (1 - _IMPROVES):
                    best, value = candidate, found
            if deadline.passed:
                return best
        if value == before:
            return best
    return best


def _moves(instance: Instance, priorities: Priorities, job: int) -> Iterator[Priorities]:
    rest = [other for other in priorities.order if other != job]
    for place in range(len(rest) + 1):
        order = (*rest[:place], job, *rest[place:])
        if order != priorities.order:
            yield Priorities(order, priorities.modes)
    every = tuple(reversed(instance.modes[job]))
    for most in range(len(every)):
        if every[most:] != priorities.modes[job]:
            modes = (*priorities.modes[:job], every[most:], *priorities.modes[job + 1 :])
            yield Priorities(priorities.order, modes)


def _value(instance: Instance, priorities: Priorities) -> float:
    """Sum of completion times; jobs beyond their deadline count for much more."""
    completions = _serve(instance, priorities)
    late = sum(max(0.0, time - due) for time, due in zip(completions, instance.deadline, strict=True))
    return sum(completions) + 10 * len(instance) * late


def _fair(instance: Instance, timetable: Timetable) -> bool:
    pairs = zip(timetable.completions, instance.deadline, strict=True)
    return all(time <= due * (1 + 1e-9) for time, due in pairs)


def _serve(instance: Instance, priorities: Priorities, steps: list[Step] | None = None) -> Sequence[float]:
    """Run the list schedule; the inner loop of the search, so written without any calls."""
    release, work, modes = instance.release, list(instance.work), priorities.modes
    completions = [inf] * len(work)
    waiting = list(priorities.order)
    arrivals = [*instance.arrivals[1:], inf]
    now, following = instance.arrivals[0], 0
    least = instance.least_gpus
    while waiting:
        free = instance.gpus
        soonest = inf
        running: list[tuple[int, Mode]] = []
        for job in waiting:
            if release[job] > now:
                continue
            for mode in modes[job]:
                if mode[0] <= free:
                    free -= mode[0]
                    running.append((job, mode))
                    need = work[job] / mode[1]
                    soonest = min(soonest, need)
                    break
            if free < least:
                break
        arrival = arrivals[following]
        seconds = soonest if now + soonest < arrival else arrival - now
        if steps is not None:
            steps.append(Step(seconds, {job: mode[0] for job, mode in running}))
        now = min(arrival, now + soonest)
        if now == arrival:
            following += 1
        for job, mode in running:
            left = work[job] - mode[1] * seconds
            work[job] = left
            if left <= _ROUNDING * instance.work[job]:
                completions[job] = now
                waiting.remove(job)
    return completions
