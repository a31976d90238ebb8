"""Listing: list schedules, which place each job where it completes earliest, and a search over job orders."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from math import inf
from random import Random

from formulations.waiting.best import BestRuns
from formulations.waiting.instance import SlottedInstance, SlottedRun
from gsopt.core.budget import Budget

#: Number of lists per job that the local search tries.
_TRIES = 30

#: Maximum number of jobs for which the local search runs, because the time for one list is quadratic in the
#: number of jobs.
_MOST_JOBS = 60


class FreeProfile:
    """The free GPUs of every cell over time, given the jobs placed so far."""

    def __init__(self, instance: SlottedInstance) -> None:
        self.instance = instance
        self._times = [0]
        self._free = [list(instance.sizes)]

    def place(self, job: int, widest: int | None = None) -> SlottedRun:
        """Place a job where it completes earliest (innermost on a tie), on tiers up to `widest`.

        If no place on these tiers can hold the job, it runs on the innermost tier that can.
        """
        instance = self.instance
        places = instance.places_of(job)
        most = inf if widest is None else max(widest, instance.places[places[0]].tier)
        found: SlottedRun | None = None
        end = 0
        by_tier: dict[int, list[int]] = {}
        for place in places:
            if (tier := instance.places[place].tier) <= most:
                by_tier.setdefault(tier, []).append(place)
        for tier, own in by_tier.items():
            length = instance.lengths[job][tier]
            for start in self._starts(instance.release[job]):
                if found is not None and start + length >= end:
                    break
                choice = self._fit(job, start, length, own)
                if choice is not None:
                    found, end = choice, start + length
                    break
        if found is None:
            raise AssertionError  # after the last end all is free
        self._take(found, end)
        return found

    def _starts(self, release: int) -> Iterator[int]:
        yield release
        yield from self._times[bisect_left(self._times, release + 1) :]

    def _fit(self, job: int, start: int, length: int, places: Sequence[int]) -> SlottedRun | None:
        """Find free GPUs for a period, at the place that has the fewest free GPUs but enough for the job."""
        need, times = self.instance.demand[job], self._times
        first = bisect_left(times, start + 1) - 1
        last = max(bisect_left(times, start + length), first + 1)
        free = [min(own) for own in zip(*self._free[first:last], strict=True)]
        fits = [
            (room, place)
            for place in places
            if (room := sum(free[cell] for cell in self.instance.places[place].cells)) >= need
        ]
        if not fits:
            return None
        _, place = min(fits)
        counts: dict[int, int] = {}
        for cell in sorted(self.instance.places[place].cells, key=lambda cell: -free[cell]):
            if need and free[cell]:
                counts[cell] = min(need, free[cell])
                need -= counts[cell]
        return SlottedRun(start, place, counts)

    def _take(self, choice: SlottedRun, end: int) -> None:
        for time in (choice.start, end):
            index = bisect_left(self._times, time)
            if index == len(self._times) or self._times[index] != time:
                self._times.insert(index, time)
                self._free.insert(index, list(self._free[index - 1]))
        for index in range(bisect_left(self._times, choice.start), bisect_left(self._times, end)):
            for cell, count in (choice.counts or {}).items():
                self._free[index][cell] -= count


def place_all(
    instance: SlottedInstance, order: Sequence[int], widest: Sequence[int], budget: Budget | None = None
) -> list[SlottedRun] | None:
    """Place jobs in the given order, each within its widest tier if possible, and return the run of each job.

    Returns None if the time limit is reached.
    """
    profile = FreeProfile(instance)
    found: dict[int, SlottedRun] = {}
    for job in order:
        if budget is not None and budget.passed:
            return None
        found[job] = profile.place(job, widest[job])
    return [found[job] for job in range(len(found))]


def search_lists(best: BestRuns) -> None:
    """Look for a good schedule by trying orders and tiers, first by rules, then by small random changes.

    The random changes are the same in every run. With more than 60 jobs, there are none.
    """
    instance = best.instance
    jobs, random = range(len(instance.demand)), Random(0)
    widest = len(instance.problem.tiers) - 1
    known = [(list(order), [tier] * len(jobs)) for order in _rules(best) for tier in range(widest + 1)]
    scored: list[tuple[float, list[int], list[int]]] = []
    for order, tiers in known:
        if best.finished and best.solution is not None:
            return
        scored.append((_try(best, order, tiers), order, tiers))
    value, order, tiers = min(scored)
    for _ in range(_TRIES * len(jobs) if len(jobs) <= _MOST_JOBS else 0):
        if best.finished:
            return
        order_now, tiers_now = list(order), list(tiers)
        if random.random() < 0.3:  # noqa: PLR2004 - a tier now and then
            tiers_now[random.randrange(len(jobs))] = random.randint(0, widest)
        else:
            order_now.insert(random.randrange(len(jobs)), order_now.pop(random.randrange(len(jobs))))
        found = _try(best, order_now, tiers_now)
        if found <= value:
            value, order, tiers = found, order_now, tiers_now


def try_order(best: BestRuns, choices: Sequence[SlottedRun]) -> None:
    """Try two list schedules in the order of a relaxation's starts: on its tiers if possible, and on any."""
    instance = best.instance
    order = sorted(range(len(choices)), key=lambda job: choices[job].start)
    _try(best, order, [instance.places[choice.place].tier for choice in choices])
    _try(best, order, [len(instance.problem.tiers)] * len(choices))


def _rules(best: BestRuns) -> Iterator[list[int]]:
    """Yield orders of the jobs that follow simple rules.

    The rules are: start in the best schedule (if there is one), release date, earliest end, release date plus
    GPU time, and GPU time in descending order.
    """
    instance = best.instance
    jobs = range(len(instance.demand))
    shortest = [instance.shortest(job) for job in jobs]
    if best.solution is not None:
        starts = instance.choices(best.solution)
        yield sorted(jobs, key=lambda job: starts[job].start)
    yield sorted(jobs, key=lambda job: instance.release[job])
    yield sorted(jobs, key=lambda job: instance.exact_release[job] + shortest[job])
    yield sorted(jobs, key=lambda job: instance.exact_release[job] + shortest[job] * instance.demand[job])
    yield sorted(jobs, key=lambda job: -shortest[job] * instance.demand[job])


def _try(best: BestRuns, order: Sequence[int], tiers: Sequence[int]) -> float:
    """Place jobs in the given order, keep the schedule if it is the best, and return its value in slots.

    If there is no schedule yet, this one is completed even if the time limit is reached.
    """
    instance = best.instance
    choices = place_all(instance, order, tiers, None if best.solution is None else best.budget)
    if choices is None:
        return inf
    ends = [each.start + instance.length(job, each.place) for job, each in enumerate(choices)]
    if instance.problem.minimize == "makespan":
        value, seconds = max(ends), max(ends) * instance.slot
    else:
        value = sum(ends) - sum(instance.release)
        seconds = value * instance.slot / len(ends)
    if best.value is None or seconds < best.value:
        best.take(instance.solution(choices))
    return value
