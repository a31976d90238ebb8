"""Local search: a search for good priority orders, whose schedules serve as starting solutions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf
from random import Random

from formulations.scheduling.instance import Instance, SpeedMode
from formulations.scheduling.order import OrderPlan, best_nearby_plan, event_order
from formulations.scheduling.timetable import TimetableStep
from gsopt.core.budget import Budget
from gsopt.core.numbers.tolerances import IMPROVEMENT, WORK_DONE

#: A duration in seconds, and the jobs that run with their modes.
_Held = tuple[float, list[tuple[int, SpeedMode]]]

#: Maximum number of sweeps over all jobs from one start.
_SWEEPS = 20

#: Maximum number of places that are tried for a job in a sweep.
_PLACES = 30

#: Minimum work per GPU of a mode, relative to the job's best mode, with the value for a busy cluster first; and
#: the number of best starts from which the search descends.
_EFFICIENCIES, _DESCENTS = (0.75, 0.9, 0.5, 0.0), 3

#: Maximum number of jobs that are moved at random to leave a local optimum, and the maximum distance in places.
_MOST_KICKED, _KICKED_FAR = 3, 4

#: Maximum cost of a priority order, relative to the best one, for which a linear program tries to improve it.
_PROMISING = 1.03


@dataclass(frozen=True)
class Priorities:
    """A priority order, and the modes that each job may use."""

    order: tuple[int, ...]  # the jobs by number, the first served first
    modes: tuple[tuple[SpeedMode, ...], ...]  # modes that each job may use, the fastest first


def list_schedule(instance: Instance, priorities: Priorities) -> OrderPlan:
    """Serve the jobs by priority at every arrival and completion, each in its fastest mode that fits."""
    completions, held = _serve(instance, priorities)
    steps = (TimetableStep(seconds, {job: mode.gpus for job, mode in running}) for seconds, running in held)
    return OrderPlan(tuple(steps), tuple(completions))


class LocalSearch:
    """A search over priority orders that changes one job at a time, and that can be continued.

    A change moves a job to another place, or sets the largest number of GPUs that it may use. A result that is
    promising is improved by `best_nearby_plan`. Missed deadlines are penalized.
    """

    def __init__(self, instance: Instance, *, seed: int = 0) -> None:
        self.instance = instance
        self._random = Random(seed)
        self._best: tuple[float, Priorities] | None = None
        self._orders: set[tuple[int, ...]] = set()

    def begin(self, budget: Budget, *, known: Sequence[OrderPlan] = ()) -> Iterator[OrderPlan]:
        """Search from the three best of many starts, yielding plans.

        The orders of the starts are those by minimum area, by shortest time, by earliest possible completion,
        by deadline if there are deadlines, and by completion in known plans. Each order is combined with all
        modes, and with only those modes that use GPUs efficiently, as a busy cluster requires. At least one
        list schedule is made even if no time is left.
        """
        starts: list[tuple[float, Priorities]] = []
        for start in _starts(self.instance, known):
            plan = list_schedule(self.instance, start)
            starts.append((_cost(self.instance, plan.completions), start))
            yield plan
            if budget.passed:
                return
        for _, start in sorted(starts, key=lambda each: each[0])[:_DESCENTS]:
            yield from self._from(start, budget)
            if budget.passed:
                return

    def go_on(self, budget: Budget) -> Iterator[OrderPlan]:
        """Search once more, from a random variation of the best order and modes found, yielding plans."""
        if self._best is None:
            return
        order, modes = list(self._best[1].order), list(self._best[1].modes)
        for _ in range(self._random.randint(1, _MOST_KICKED)):
            place = self._random.randrange(len(order))
            job = order.pop(place)
            order.insert(max(place + self._random.randint(-_KICKED_FAR, _KICKED_FAR), 0), job)
        job = self._random.randrange(len(order))
        every = tuple(reversed(self.instance.modes[job]))
        modes[job] = every[self._random.randrange(len(every)) :]
        yield from self._from(Priorities(tuple(order), tuple(modes)), budget)

    def _from(self, start: Priorities, budget: Budget) -> Iterator[OrderPlan]:
        """Descend from a start, and optimize the resulting order of events if it is promising."""
        found = _descend(self.instance, start, budget, self._random)
        plan = list_schedule(self.instance, found)
        yield plan
        value = _cost(self.instance, plan.completions)
        known = self._best
        if known is None or value <= known[0]:
            self._best = value, found
        order = event_order(self.instance, plan.completions)
        if order in self._orders or budget.passed or (known and value > known[0] * _PROMISING):
            return
        self._orders.add(order)
        better = best_nearby_plan(self.instance, order, known=[plan], budget=budget)
        if better is not None:
            yield better


def good_plans(instance: Instance, budget: Budget) -> Iterator[OrderPlan]:
    """Yield the plans that a local search finds from its starts."""
    return LocalSearch(instance).begin(budget)


def _starts(instance: Instance, known: Sequence[OrderPlan]) -> Iterator[Priorities]:
    jobs = range(len(instance))
    keys: list[Callable[[int], float]] = [instance.area, instance.height, instance.earliest]
    if min(instance.deadline) < inf:
        keys.append(instance.deadline.__getitem__)
    keys += [plan.completions.__getitem__ for plan in known]
    for efficiency, key in product(_EFFICIENCIES, keys):
        modes = tuple(_efficient(instance, job, efficiency) for job in jobs)
        yield Priorities(tuple(sorted(jobs, key=key)), modes)


def _efficient(instance: Instance, job: int, efficiency: float) -> tuple[SpeedMode, ...]:
    """Return the modes whose work per GPU is at least the given fraction of the best mode's, fastest first."""
    most = max(mode.rate / mode.gpus for mode in instance.modes[job])
    return tuple(mode for mode in reversed(instance.modes[job]) if mode.rate >= efficiency * most * mode.gpus)


def _descend(instance: Instance, start: Priorities, budget: Budget, random: Random) -> Priorities:
    """Move single jobs, or change their modes, as long as this improves the schedule."""
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
    """Return the sum of completion times, plus a penalty for missed deadlines."""
    late = sum(max(0.0, time - due) for time, due in zip(completions, instance.deadline, strict=True))
    return sum(completions) + 10 * len(instance) * late


def _serve(instance: Instance, priorities: Priorities) -> tuple[list[float], list[_Held]]:
    """Return the completion times and the steps of a list schedule.

    Each step consists of its duration in seconds, and the running jobs with their modes. This is the inner loop
    of the search, and is therefore written without calls.
    """
    release, work, modes = instance.release, list(instance.work), priorities.modes
    completions = [inf] * len(work)
    waiting = list(priorities.order)
    arrivals = [*instance.arrivals[1:], inf]
    now, following, least = 0.0, 0, instance.least_gpus
    steps: list[_Held] = []
    while waiting:
        free, soonest = instance.gpus, inf
        running: list[tuple[int, SpeedMode]] = []
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
