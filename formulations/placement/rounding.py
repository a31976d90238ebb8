"""Rounding: a heuristic that rounds the relaxation down and places the remaining workers greedily."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from formulations.placement.linear import Optimum
from formulations.placement.packing import Filled, FillPatterns, Integers, Packing, Reals
from gsopt.core.budget import Budget
from gsopt.core.numbers.tolerances import FEASIBILITY

#: Largest relative change of a price, up or down.
_VARIED = 0.3

#: Maximum number of runs.
_RUNS = 200

#: Default limit on the number of fillings tried in all runs, multiplied by the number of demands.
EFFORT = 500_000

#: Number of kinds among which the next server to fill is chosen.
_KINDS = 6

#: A way to fill a server: zone, kind, and pairs of a demand and a number of workers.
_Filling = tuple[int, int, tuple[tuple[int, int], ...]]


@dataclass(frozen=True, eq=False)
class Rounding:
    """The outcome of rounding a relaxation down."""

    patterns: FillPatterns  # patterns of the relaxation, followed by the fillings of the best run
    # integer values of the columns of the program over these patterns, or None if no run placed all workers
    values: Integers | None
    others: FillPatterns  # the fillings of all complete runs

    @property
    def filled(self) -> Filled | None:
        """The solution found; None if no run placed all workers."""
        return None if self.values is None else Filled(self.patterns, self.values)


def round_down(
    packing: Packing,
    patterns: FillPatterns,
    optimum: Optimum,
    *,
    goal: int,
    budget: Budget,
    seed: int = 0,
    effort: int = EFFORT,
) -> Rounding:
    """Round a relaxation down, and place the remaining workers greedily; return the best of several runs.

    Each server is filled with the workers that are worth the most per share of the server. The next server is
    of the kind whose filling has the largest worth minus rent, among up to six kinds of servers drawn at random
    or, if none of these can hold a worker, among all kinds. The prices of workers and servers are those of the
    relaxation, but each run orders workers by randomly varied prices. There are at most 200 runs. No run but
    the first starts once time has run out, the objective is at most `goal`, or the number of fillings tried,
    multiplied by the number of demands, exceeds `effort`.
    """
    demands = len(packing.demands)
    below = np.floor(optimum.values + FEASIBILITY).astype(np.int64)
    rest = _Rest(packing, patterns, below, optimum.duals)
    allowed = goal - round(packing.form(patterns).objective(below))
    best: list[_Filling] | None = None
    tried: dict[_Filling, None] = {}
    for run in rest.runs(np.random.default_rng(seed), effort, budget):
        tried.update(dict.fromkeys(run))
        if best is None or rest.cost(run) < rest.cost(best):
            best = run
        if rest.cost(best) <= allowed:
            break
    others = FillPatterns.of(map(rest.row, tried), demands)
    if best is None:
        return Rounding(patterns, None, others)
    times = Counter(best)
    extended = patterns + FillPatterns.of(map(rest.row, times), demands)
    return Rounding(extended, np.append(below, np.array(list(times.values()), dtype=np.int64)), others)


@dataclass(frozen=True, eq=False)
class _Rest:
    """The workers and servers that remain after the relaxation is rounded down."""

    packing: Packing
    patterns: FillPatterns
    below: Integers
    duals: Reals

    @cached_property
    def needs(self) -> list[list[int]]:
        """Number of remaining workers, by zone and demand."""
        form = self.packing.form(self.patterns)
        zones, demands = len(self.packing.zones), len(self.packing.demands)
        missing = (form.row_lower - form.matrix @ self.below)[: zones * demands]
        needs: list[list[int]] = np.maximum(np.round(missing), 0).astype(int).reshape(zones, demands).tolist()
        return needs

    @cached_property
    def left(self) -> list[int]:
        """Number of remaining servers of each kind."""
        filled = self.below[self.packing.moves :]
        taken = np.bincount(self.patterns.kind, filled, len(self.packing.kinds)).astype(np.int64)
        left: list[int] = (self.packing.limits - taken).tolist()
        return left

    def runs(self, random: np.random.Generator, most: int, budget: Budget) -> Iterator[list[_Filling]]:
        """Yield complete placements of the remaining workers, each at different prices; skip failed runs."""
        effort = 0
        for _ in range(_RUNS):
            run = _GreedyRun(self, random)
            placed = list(run.fillings())
            effort += run.filled * len(self.packing.demands)
            if run.complete:
                yield placed
            if effort > most or budget.passed:
                return

    def cost(self, run: Sequence[_Filling]) -> int:
        """Return the cost of the servers that a run fills."""
        return int(sum(self.packing.costs[kind] for _, kind, _ in run))

    def row(self, filling: _Filling) -> tuple[int, int, Integers]:
        """Return a filling as the row of a pattern: zone, kind and numbers of workers."""
        zone, kind, pairs = filling
        counts = np.zeros(len(self.packing.demands), dtype=np.int64)
        for demand, number in pairs:
            counts[demand] = number
        return zone, kind, counts


class _GreedyRun:
    """A greedy placement of the remaining workers at varied prices."""

    def __init__(self, rest: _Rest, random: np.random.Generator) -> None:
        self._rest = rest
        self._random = random
        self._needs = [list(needs) for needs in rest.needs]
        self._left = list(rest.left)
        worth = rest.packing.worth(rest.duals)
        self._worth: list[list[float]] = worth.tolist()
        self._rents: list[float] = rest.packing.rents(rest.duals).tolist()
        self._varied = worth * random.uniform(1 - _VARIED, 1 + _VARIED, size=worth.shape)
        self._orders: dict[tuple[int, int], list[tuple[int, list[int]]]] = {}
        self.filled = 0

    @property
    def complete(self) -> bool:
        """Whether all workers are placed."""
        return not any(map(any, self._needs))

    def fillings(self) -> Iterator[_Filling]:
        """Fill one server after another until all workers are placed or no server can hold any more."""
        for z, zone in enumerate(self._rest.packing.zones):
            while any(self._needs[z]):
                kinds = [kind for kind in zone.kinds if self._left[kind]]
                options = self._options(z, self._some(kinds)) or self._options(z, kinds)
                if not options:
                    return
                chosen = max(options, key=self._gain)
                self._left[chosen[1]] -= 1
                for demand, number in chosen[2]:
                    self._needs[z][demand] -= number
                yield chosen

    def _some(self, kinds: list[int]) -> list[int]:
        if len(kinds) <= _KINDS:
            return kinds
        some: list[int] = self._random.choice(kinds, size=_KINDS, replace=False).tolist()
        return some

    def _options(self, zone: int, kinds: list[int]) -> list[_Filling]:
        return [filling for kind in kinds if (filling := self._fill(zone, kind))[2]]

    def _gain(self, filling: _Filling) -> float:
        zone, kind, pairs = filling
        return sum(self._worth[zone][demand] * number for demand, number in pairs) - self._rents[kind]

    def _fill(self, zone: int, kind: int) -> _Filling:
        """Fill a server with remaining workers, in descending order of worth per share of the server."""
        self.filled += 1
        needs = self._needs[zone]
        room: Sequence[int] = self._rest.packing.kinds[kind].room
        pairs = []
        for demand, vector in self._order(zone, kind):
            number = min(
                needs[demand], *(free // need for free, need in zip(room, vector, strict=True) if need)
            )
            if number:
                pairs.append((demand, number))
                room = [free - number * need for free, need in zip(room, vector, strict=True)]
        return zone, kind, tuple(sorted(pairs))

    def _order(self, zone: int, kind: int) -> list[tuple[int, list[int]]]:
        if (zone, kind) not in self._orders:
            packing = self._rest.packing
            share = (packing.demands / np.maximum(packing.rooms[kind], 1)).sum(axis=1)
            vectors = packing.demands.tolist()
            order = np.argsort(-self._varied[zone] / share, kind="stable").tolist()
            needed = self._rest.needs[zone]
            self._orders[zone, kind] = [(demand, vectors[demand]) for demand in order if needed[demand]]
        return self._orders[zone, kind]
