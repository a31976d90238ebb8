"""Proof: an optimum, chosen by exact costs among the choices of minimal cost in double precision.

Costs in double precision count as minimal if they differ from the minimum only by rounding errors.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import lcm

import numpy as np
from numpy.typing import NDArray

from formulations.batching.case import BatchingCase
from formulations.batching.rows import CostRows
from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import Exact

Floats = NDArray[np.float64]

#: Maximum number of binary digits of a common denominator.
_LONGEST = 2_000_000


@dataclass(frozen=True, eq=False)
class CostTables:
    """The minimum costs of the first k jobs and of the last k jobs, for every k, by number of GPUs used."""

    case: BatchingCase  # the problem
    # minimum cost of the first jobs by number of GPUs used, shape (jobs + 1, GPUs + 1)
    before: Floats | CostRows
    behind: Floats | CostRows  # the same for the last jobs

    @cached_property
    def limit(self) -> float:
        """The total cost above which no choice is optimal: the minimum plus four times `BatchingCase.error`."""
        last = self.before[-1]
        least = last[self.case.gpus] if self.case.use_all else last.min()
        return float(least) + 4 * self.case.error

    def rest(self, place: int) -> Floats:
        """Return the minimum cost of the jobs from an index on, by the number of GPUs used by earlier jobs."""
        behind: Floats = self.behind[len(self.case.costs) - place]
        if not self.case.use_all:
            behind = np.minimum.accumulate(behind)
        return behind[::-1]

    def choices(self, place: int) -> Iterator[tuple[int, int]]:
        """Yield the choices that an optimum may contain for a job.

        Each is a pair: the number of GPUs of all earlier jobs together, and that of the job itself.
        """
        costs, before, rest = self.case.costs[place], self.before[place], self.rest(place + 1)
        alive = np.flatnonzero(before + self.rest(place) <= self.limit)
        for used in alive.tolist():
            room = min(len(costs), len(rest) - used)
            totals = before[used] + costs[:room] + rest[used : used + room]
            for gpus in np.flatnonzero(totals <= self.limit).tolist():
                yield used, gpus


def optimal_counts(tables: CostTables, budget: Budget) -> list[int] | None:
    """Return each job's number of GPUs in an optimum, or None if time runs out or numbers get too long.

    If time runs out while rows of the tables are computed again, `TimeUp` is raised instead.
    """
    steps: list[list[tuple[int, int]]] = []
    for place in range(len(tables.case.costs)):
        if budget.passed:
            return None
        steps.append(list(tables.choices(place)))
    open_jobs = {place for place, found in enumerate(steps) if len({gpus for _, gpus in found}) > 1}
    if not open_jobs:
        return [found[0][1] for found in steps]
    whole = _whole_costs(tables.case, {place: {g for _, g in steps[place]} for place in open_jobs}, budget)
    return None if whole is None else _cheapest(steps, whole, budget)


def _whole_costs(
    case: BatchingCase, asked: dict[int, set[int]], budget: Budget
) -> dict[int, dict[int, int]] | None:
    """Return the exact costs of the requested jobs and numbers of GPUs, as integer multiples of one unit.

    Returns None if the unit is too small or the time limit is reached.
    """
    exact: dict[int, dict[int, Exact]] = {place: {} for place in asked}
    for place, menu in asked.items():
        for gpus in menu:
            if budget.passed:
                return None
            exact[place][gpus] = case.cost(place, gpus)
    unit = _common(cost.denominator for menu in exact.values() for cost in menu.values())
    if unit is None:
        return None
    return {
        place: {gpus: cost.numerator * (unit // cost.denominator) for gpus, cost in menu.items()}
        for place, menu in exact.items()
    }


def _common(denominators: Iterable[int]) -> int | None:
    """Return the least common multiple, computed pair by pair, or None if it has too many digits."""
    parts = list(set(denominators))
    while len(parts) > 1:
        odd = parts[-1:] if len(parts) % 2 else []
        parts = [lcm(*pair) for pair in zip(parts[::2], parts[1::2], strict=False)] + odd
        if sum(part.bit_length() for part in parts) > _LONGEST:
            return None
    return parts[0]


def _cheapest(
    steps: list[list[tuple[int, int]]], whole: dict[int, dict[int, int]], budget: Budget
) -> list[int] | None:
    """Return the cheapest path through the choices, or None if the time limit is reached.

    Jobs without exact costs have a single choice and count as free.
    """
    costs = {0: 0}
    chosen: list[dict[int, int]] = []  # by job: the GPUs of the job, by those used with it
    for place, found in enumerate(steps):
        if budget.passed:
            return None
        menu = whole.get(place, {})
        after: dict[int, int] = {}
        choice: dict[int, int] = {}
        for used, gpus in found:
            if used not in costs:
                continue
            total = costs[used] + menu.get(gpus, 0)
            if used + gpus not in after or total < after[used + gpus]:
                after[used + gpus], choice[used + gpus] = total, gpus
        costs = after
        chosen.append(choice)
    used = min(costs, key=costs.__getitem__)
    counts: list[int] = []
    for choice in reversed(chosen):
        counts.append(choice[used])
        used -= counts[-1]
    return counts[::-1]
