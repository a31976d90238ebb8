"""Local search: good schedules from orders of priority, to start the exact methods from."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from random import Random

from formulations.scheduling.instance import Instance, Mode
from formulations.scheduling.order import Plan, best_nearby_plan, event_order
from formulations.scheduling.timetable import Step
from gsopt.budget import Budget
from gsopt.tolerances import IMPROVEMENT, WORK_DONE

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


def good_plans(
    instance: Instance, budget: Budget, *, known: Sequence[Plan] = (), seed: int = 0
) -> Iterator[Plan]:
    """Search orders of priority by moving one job at a time, then make the best of the order of events.

    Starts: by least area, by least time, by earliest completion alone, by deadline where there are any, and in
    the order of completion of known plans; the best first. A job may also be kept from its largest counts. What
    is left to gain by mixing configurations between the same events, or near their order, `best_nearby_plan`
    gains. Deadlines may be broken, if at a price.

    Parameters
    ----------
    instance
        The jobs.
    budget
        When to stop; one list schedule is made anyway.
    known
        Plans to start from besides.
    seed
        Seed of the order in which jobs are moved.

    Yields
    ------
    Plan
        Plans, as they are found.
    """
    random = Random(seed)
    starts: list[tuple[float, Priorities]] = []
    for start in _starts(instance, known):
        plan = list_schedule(instance, start)
        starts.append((_cost(instance, plan.completions), start))
        yield plan
        if budget.passed:
            return
    orders: list[tuple[int, ...]] = []
    for _, start in sorted(starts, key=lambda each: each[0]):
        plan = list_schedule(instance, _descend(instance, start, budget, random))
        yield plan
        order = event_order(instance, plan.completions)
        if order not in orders and not budget.passed:
            orders.append(order)
            better = best_nearby_plan(instance, order, known=[plan], budget=budget)
            if better is not None:
                yield better
        if budget.passed:
            return


def _starts(instance: Instance, known: Sequence[Plan]) -> Iterator[Priorities]:
    jobs = range(len(instance))
    modes = tuple(tuple(reversed(instance.modes[job])) for job in jobs)
    keys: list[Callable[[int], float]] = [instance.area, instance.height, instance.earliest]
    if min(instance.deadline) < inf:
        keys.append(instance.deadline.__getitem__)
    keys += [plan.completions.__getitem__ for plan in known]
    for key in keys:
        yield Priorities(tuple(sorted(jobs, key=key)), modes)


def _descend(instance: Instance, start: Priorities, budget: Budget, random: Random) -> Priorities:
    """Move one job to another place, or change the most GPUs it takes, while that improves the schedule."""
    best, value = start, _value(instance, start)
    jobs = list(range(len(instance)))
    for _ in range(_SWEEPS):
        before = value
        for job in random.sample(jobs, len(jobs)):
            for candidate in _moves(instance, best, job, random):
                if budget.passed:
                    return best
                found = _value(instance, candidate)
                if found < value * (1 - IMPROVEMENT):
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
    return _cost(instance, _serve(instance, priorities)[0])


def _cost(instance: Instance, completions: Sequence[float]) -> float:
    """Sum of completion times; jobs beyond their deadline count for much more."""
    late = sum(max(0.0, time - due) for time, due in zip(completions, instance.deadline, strict=True))
    return sum(completions) + 10 * len(instance) * late


def _serve(instance: Instance, priorities: Priorities) -> tuple[list[float], list[_Held]]:
    """Run the list schedule; the inner loop of the search, so written without any calls.

    Returns the completion times, and for each step its seconds and the jobs that run with their modes.
    """
    release, work, modes = instance.release, list(instance.work), priorities.modes
    completions = [inf] * len(work)
    waiting = list(priorities.order)
    arrivals = [*instance.arrivals[1:], inf]
    now, following, least = 0.0, 0, instance.least_gpus
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
            if work[job] <= WORK_DONE * instance.work[job]:
                completions[job] = now
                waiting.remove(job)
    return completions, steps
