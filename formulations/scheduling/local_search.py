"""Local search: good schedules from orders of priority, to start the exact methods from."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from random import Random

from formulations.deadline import Deadline
from formulations.scheduling.instance import Instance, Mode
from formulations.scheduling.order import Plan, best_nearby_plan, event_order
from formulations.scheduling.timetable import Step
from gsopt.clock import clock_error

#: Share of a job's work that counts as rounding.
_ROUNDING = 1e-12

#: Part of what the judge excuses of a missed deadline; less than what `Instance.deadline` leaves of it.
_EXCUSED = 0.2

#: Relative improvement below which a move is not worth making.
_IMPROVES = 1e-9

#: Seconds, and the jobs that run with their modes.
_Held = tuple[float, list[tuple[int, Mode]]]

#: Sweeps over all jobs, at most, from one start.
_SWEEPS = 20

#: Places, at most, to which a job is moved in a sweep.
_PLACES = 30


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


def list_schedule(instance: Instance, priorities: Priorities) -> Plan:
    """Serve the jobs by priority at every arrival and completion: each takes its fastest mode that fits."""
    completions, held = _serve(instance, priorities)
    steps = (Step(seconds, {job: mode.gpus for job, mode in running}) for seconds, running in held)
    return Plan(tuple(steps), tuple(completions))


def local_search(instance: Instance, deadline: Deadline, *, seed: int = 0) -> Plan | None:
    """Give the best of `good_plans`; None when none keeps every job's deadline."""
    return min(good_plans(instance, deadline, seed=seed), key=lambda plan: plan.total, default=None)


def good_plans(instance: Instance, deadline: Deadline, *, seed: int = 0) -> Iterator[Plan]:
    """Search orders of priority by moving one job at a time, then make the best of the order of events.

    Starts: by least area, by least time, by earliest completion alone, and by deadline where there are any.
    A job may also be kept from its largest counts. What is left to gain by mixing configurations between the
    same events, or near their order, `best_nearby_plan` gains.

    Parameters
    ----------
    instance
        The jobs.
    deadline
        When to stop; the first list schedule is made anyway.
    seed
        Seed of the order in which jobs are moved.

    Yields
    ------
    Plan
        Plans that keep every job's deadline, as they are found.
    """
    random = Random(seed)
    orders: list[tuple[int, ...]] = []
    for start in _starts(instance):
        yield from _fair(instance, list_schedule(instance, start))
        plan = list_schedule(instance, _descend(instance, start, deadline, random))
        yield from _fair(instance, plan)
        order = event_order(instance, plan.completions)
        if order not in orders:
            orders.append(order)
            yield from _fair(instance, best_nearby_plan(instance, order, known=[plan], deadline=deadline))
        if deadline.passed:
            return


def _starts(instance: Instance) -> Iterator[Priorities]:
    jobs = range(len(instance))
    modes = tuple(tuple(reversed(instance.modes[job])) for job in jobs)
    keys: list[Callable[[int], float]] = [instance.area, instance.height, instance.earliest]
    if min(instance.deadline) < inf:
        keys.append(instance.deadline.__getitem__)
    for key in keys:
        yield Priorities(tuple(sorted(jobs, key=key)), modes)


def _descend(instance: Instance, start: Priorities, deadline: Deadline, random: Random) -> Priorities:
    """Move one job to another place, or change the most GPUs it takes, while that improves the schedule."""
    best, value = start, _value(instance, start)
    jobs = list(range(len(instance)))
    for _ in range(_SWEEPS):
        before = value
        for job in random.sample(jobs, len(jobs)):
            for candidate in _moves(instance, best, job, random):
                if deadline.passed:
                    return best
                found = _value(instance, candidate)
                if found < value * (1 - _IMPROVES):
                    best, value = candidate, found
        if value == before:
            return best
    return best


def _moves(instance: Instance, priorities: Priorities, job: int, random: Random) -> Iterator[Priorities]:
    rest = [other for other in priorities.order if other != job]
    for place in random.sample(range(len(rest) + 1), min(len(rest) + 1, _PLACES)):
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
    completions, _ = _serve(instance, priorities)
    late = sum(max(0.0, time - due) for time, due in zip(completions, instance.deadline, strict=True))
    return sum(completions) + 10 * len(instance) * late


def _fair(instance: Instance, plan: Plan | None) -> Iterator[Plan]:
    """Give a plan back if it keeps every job's deadline."""
    if plan is not None:
        rows = zip(plan.completions, instance.deadline, instance.release, strict=True)
        if all(time <= due + _EXCUSED * clock_error(due, due - release) for time, due, release in rows):
            yield plan


def _serve(instance: Instance, priorities: Priorities) -> tuple[list[float], list[_Held]]:
    """Run the list schedule; the inner loop of the search, so written without any calls.

    Returns the completion times, and for each step its seconds and the jobs that run with their modes.
    """
    release, work, modes = instance.release, list(instance.work), priorities.modes
    completions = [inf] * len(work)
    waiting = list(priorities.order)
    arrivals = [*instance.arrivals[1:], inf]
    now, following, least = instance.arrivals[0], 0, instance.least_gpus
    steps: list[_Held] = []
    while waiting:
        free, soonest = instance.gpus, inf
        running: list[tuple[int, Mode]] = []
        for job in waiting:
            if release[job] > now or free < least:
                continue
            for mode in modes[job]:
                if mode[0] <= free:
                    free -= mode[0]
                    running.append((job, mode))
                    soonest = min(soonest, work[job] / mode[1])
                    break
        arrival = arrivals[following]
        seconds = min(soonest, arrival - now)
        steps.append((seconds, running))
        if now + soonest < arrival:
            now += soonest
        else:
            now = arrival
            following += 1
        for job, mode in running:
            work[job] -= mode[1] * seconds
            if work[job] <= _ROUNDING * instance.work[job]:
                completions[job] = now
                waiting.remove(job)
    return completions, steps
