"""Search: the best plan of a window, found by a search over limits on the longest remaining time."""

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import chain, count
from math import inf
from typing import NamedTuple

import numpy as np

from heuristics.policies.shockwave.counting import WindowRelaxation
from heuristics.policies.shockwave.packing import packed
from heuristics.policies.shockwave.program import Effort, RoundProgram
from heuristics.policies.shockwave.window import Counts, Plan, Window


class _Part(NamedTuple):
    """The plans whose longest remaining time is among some levels; parts are sorted by `rank`.

    No such plan has a value above -`rank`. For a single level, `choices` are the best numbers of rounds in the
    relaxation, or None until they are computed.
    """

    rank: float
    number: int
    low: int
    high: int
    choices: Iterator[Counts] | None


def best_plan(window: Window, effort: Effort) -> Plan | None:
    """Return the plan with the highest value, or None if no plan with the required rounds of all jobs is found.

    A level is a limit on the seconds that any job has left after the window. The search is a branch and bound
    over ranges of levels, which ends when no bound exceeds the best value by more than the gap. At a single
    level, a knapsack (`WindowRelaxation`) yields the jobs' numbers of rounds, best ones first. The first
    numbers that can be packed into rounds are used. If there are none, or their plan is not within the gap, the
    integer program of the level is solved (`RoundProgram`).

    This works for any price of the longest remaining time. In a single program for all levels, a very high or
    very low price would make one of the two terms of the value smaller than the solver's tolerances.
    """
    if not window.claims:
        return np.zeros((0, window.rounds), dtype=np.bool_)
    search = _WindowSearch(window, effort)
    search.push(0, len(window.levels) - 1)
    return search.run()


class _WindowSearch:
    def __init__(self, window: Window, effort: Effort) -> None:
        self._window, self._effort = window, effort
        self._counting = WindowRelaxation(window)
        self._parts: list[_Part] = []
        self._number = count()
        self._best: Plan | None = None
        self._worth, self._spare = -inf, 0.0  # of the best plan, and what the effort leaves open of it

    def push(self, low: int, high: int) -> None:
        """Add the plans for a range of levels, unless there are none."""
        least = self._window.least(float(self._window.levels[high]))
        ceiling = None if least is None else self._counting.ceiling(least)
        if ceiling is not None:
            paid = self._window.price * float(self._window.levels[low])
            heappush(self._parts, _Part(paid - ceiling, next(self._number), low, high, None))

    def run(self) -> Plan | None:
        """Explore parts until none has a better bound than the best plan, up to the gap; return that plan."""
        while self._parts and -self._parts[0].rank > self._worth + self._spare:
            part = heappop(self._parts)
            if part.low < part.high:
                middle = (part.low + part.high) // 2
                self.push(part.low, middle)
                self.push(middle + 1, part.high)
            elif part.choices is None:
                self._count(part)
            else:
                self._settle(part, part.choices)
        return self._best

    def _count(self, part: _Part) -> None:
        """Compute the choices of the relaxation at one level."""
        choices = self._counting.choices(self._least(part))
        first = next(choices)
        paid = self._window.price * float(self._window.levels[part.low])
        known = part._replace(rank=paid - self._window.gained(first), choices=chain([first], choices))
        heappush(self._parts, known)

    def _settle(self, part: _Part, choices: Iterator[Counts]) -> None:
        """Find a plan at one level, by packing or by the integer program."""
        least, first = self._least(part), next(choices)
        enough = self._window.gained(first) * (1 - self._effort.gap)
        plan = self._packed(least, chain([first], choices))
        if plan is None or self._window.gained(plan.sum(axis=1)) < enough:
            plan = RoundProgram(self._window, self._effort).most(least, plan)
        if plan is not None:
            self._take(plan)

    def _packed(self, least: Counts, choices: Iterator[Counts]) -> Plan | None:
        """Return a plan of the first choice that can be packed, or None if not even the fewest rounds can."""
        if packed(self._window, least) is None:
            return None
        return next((plan for counts in choices if (plan := packed(self._window, counts)) is not None), None)

    def _take(self, plan: Plan) -> None:
        counts = plan.sum(axis=1)
        worth = self._window.worth(counts)
        if worth > self._worth:
            self._best, self._worth = plan, worth
            self._spare = self._effort.gap * self._window.gained(counts)

    def _least(self, part: _Part) -> Counts:
        """Return the fewest rounds of each job at a level."""
        least = self._window.least(float(self._window.levels[part.low]))
        assert least is not None  # noqa: S101 - else the part was not added
        return least
