"""Search: techniques that are applied to a reduced problem one after another until value and bound meet."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.util import find_spec
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray

from formulations.reclaiming.decomposition import EliminationPlan, optimum, plan
from formulations.reclaiming.growth import greedy_counts
from formulations.reclaiming.hull import Hull, hull
from formulations.reclaiming.local_search import PATIENCE, tabu_search
from formulations.reclaiming.pairs import pairs_bound
from formulations.reclaiming.reduced import arrays, point, prices
from formulations.reclaiming.reduction import Reduction
from gsopt.core.budget import Budget
from gsopt.core.numbers.grid import Number
from gsopt.core.result import StoppedBy, is_within
from gsopt.solvers.backends import CpSat, Highs
from gsopt.solvers.scaling import Proof, optimize

#: Maximum number of additions for the tables of the whole problem. They take about 8 ms, which is about as long
#: as the hull takes.
_WORK = 2_000_000

#: Maximum number of additions once the hull is known. They take about 40 ms, which is less than a mixed-integer
#: program takes.
_WORK_OF_REST = 20_000_000

#: Fraction of the remaining time for local search if a mixed-integer program follows.
_SHARE_OF_SEARCH = 0.5

#: Maximum number of pairs of a group and a merged job in a mixed-integer program with a time limit. With more,
#: solvers take seconds before they first check the clock.
_PROGRAM = 20_000

#: Seconds beyond the time limit that a first choice and bound may take, because there would be no result
#: without them.
_GRACE = 0.25

#: Fraction of all servers over which the hull must be a straight line for the bound to be called weak.
_STRAIGHT = 0.5

#: Called with the counts by group of a better choice and a bound on the value; returning True ends the search.
OnBetter = Callable[[list[int], int], object]


@dataclass(frozen=True)
class SearchResult:
    """The outcome of a search: the best choice, the bound, and how they were found."""

    counts: list[int]  # servers of each group in the best choice
    bound: int  # lower bound on the value of any choice
    message: str  # the last technique, and why the bound is weak if it is
    solver: str  # solver or technique behind the proof
    stopped_by: StoppedBy  # why the search ended


class ReclaimingSearch:
    """The best choice and bound so far, and the techniques that improve them.

    The reduction must be net (`Reduction.net`). The caller converts the budget's start and callback to the
    reduction. `width` limits the number of jobs in one table of the dynamic programs. A width of -1 disables
    dynamic programming.
    """

    def __init__(
        self,
        reduction: Reduction,
        budget: Budget,
        *,
        width: int,
        on_better: OnBetter | None = None,
        on_bound: Callable[[int], object] | None = None,
    ) -> None:
        self._reduction, self._budget, self._width = reduction, budget, width
        self._on_better, self._on_bound = on_better, on_bound
        self._late = budget.longer(_GRACE)
        self._counts: list[int] = []
        self._value = 1 + reduction.largest  # above every value
        self._bound = 0  # what every choice pays is taken out, and no cost is negative
        self._searched: int | None = None  # the value whose core was searched last
        self._stopped = False

    def run(self, known: list[int] | None = None, *, branch: bool = True) -> SearchResult:
        """Search from a known choice, if there is one. `branch` allows a mixed-integer program at the end."""
        if known is not None:
            self._counts, self._value = known, self._reduction.value(known)
        try:
            return self._run(branch)
        except KeyboardInterrupt:
            if not self._counts:
                raise
            self._stopped = True
            return self._answer("interrupted", "hull")

    def _run(self, branch: bool) -> SearchResult:
        program = self._affordable(self._reduction, _WORK, self._late)
        if program is not None:
            self._take_optimum(program)
            return self._answer("decomposition", "decomposition")
        frame = hull(self._reduction, self._late)
        self._raise_bound(ceil(frame.shares.bound))
        for technique, step in (
            ("rounding", self._round),
            ("decomposition of the core", self._search_core),
            ("local search", self._improve),
            ("decomposition of the core", self._search_core),
            ("pairs of servers", self._bound_pairs),
        ):
            step(frame)
            if self._over:
                return self._answer(f"hull and {technique}", "hull", frame)
        core = frame.shares.core(self._value)
        if not branch or not self._programmable(core):
            return self._answer("hull and local search", "hull", frame)
        proof = self._branch(core)
        return self._answer(f"hull and {proof.solver} on the core", proof.solver, frame, proof.stopped_by)

    def _affordable(self, reduction: Reduction, work: int, budget: Budget) -> EliminationPlan | None:
        if budget.passed:
            return None
        program = plan(reduction, self._width)
        return program if program is not None and program.work(reduction.demand) <= work else None

    def _take_optimum(self, program: EliminationPlan) -> None:
        """Keep a plan's best choice as the optimum; the plan excludes no choice better than the known one."""
        counts = optimum(program, self._reduction.demand)
        if counts is not None:
            self._offer(counts)
        self._bound = self._value

    def _round(self, frame: Hull) -> None:
        """Look for a good choice between the two corners of the hull."""
        program = self._affordable(frame.rest, _WORK_OF_REST, self._late)
        counts = None if program is None else optimum(program, self._reduction.demand)
        self._offer(greedy_counts(frame.rest, self._late) if counts is None else counts)

    def _search_core(self, frame: Hull) -> None:
        """Search all better choices that the hull allows, if the tables are small enough."""
        if self._value == self._searched:
            return
        self._searched = self._value
        program = self._affordable(frame.shares.core(self._value - 1), _WORK_OF_REST, self._budget)
        if program is not None:
            self._take_optimum(program)

    def _improve(self, frame: Hull) -> None:
        """Improve the choice by local search until it stalls or, if nothing follows, until time runs out."""
        core = frame.shares.core(self._value)
        follows = self._programmable(core)
        budget = part(self._budget, _SHARE_OF_SEARCH) if follows else self._budget
        tabu_search(core, self._counts, budget, patience=PATIENCE if follows else inf, on_better=self._offer)

    def _bound_pairs(self, frame: Hull) -> None:
        """Raise the bound by counting pairs of servers."""
        del frame
        self._raise_bound(pairs_bound(self._reduction, self._budget))

    def _programmable(self, core: Reduction) -> bool:
        """Check whether a mixed-integer solver is likely to find an improvement in time."""
        pairs = sum(len(group.jobs) for group in core.groups if group.servers)
        return self._budget.time_limit is None or pairs <= _PROGRAM

    def _branch(self, core: Reduction) -> Proof:
        """Solve the core as a mixed-integer program, and keep its choices and bounds."""
        weights, own, base = prices(core)
        solver = self._budget.backend or (CpSat() if find_spec("ortools") else Highs())
        proof = optimize(
            arrays(core),
            replace(self._budget, backend=solver),
            costs=[*weights, *own],
            offset=base,
            start=point(core, self._counts),
            on_point=self._hear,
            on_bound=None if self._on_bound is None else self._hear_bound,
        )
        if proof.values is not None:
            self._hear(proof.values, proof.bound)
        return proof

    def _hear(self, values: NDArray[np.float64], bound: Number | None) -> bool:
        """Convert a point and a bound of the mixed-integer program, and keep each if it is better."""
        if bound is not None:
            self._hear_bound(bound)
        counts = np.rint(values[len(self._reduction.weights) :]).astype(np.int64)
        return self._offer(counts.tolist())

    def _hear_bound(self, bound: Number) -> None:
        """Convert a bound of the mixed-integer program, and keep it if it is better."""
        self._raise_bound(ceil((Fraction(bound) - self._reduction.base) / self._reduction.unit))

    def _raise_bound(self, bound: int) -> None:
        if bound > self._bound:
            self._bound = bound
            if self._on_bound is not None:
                self._on_bound(bound)

    def _offer(self, counts: list[int]) -> bool:
        """Keep a choice if it is better, and return whether to stop the running technique."""
        value = self._reduction.value(counts)
        if value < self._value:
            self._counts, self._value = counts, value
            self._bound = min(self._bound, value)
            if self._on_better is not None and self._on_better(counts, self._bound) is True:
                self._stopped = True
        return self._stopped

    @property
    def _met(self) -> bool:
        """Whether bound and value are within the requested gap."""
        value, bound = self._reduction.number(self._value), self._reduction.number(self._bound)
        return is_within(value, bound, self._budget.gap)

    @property
    def _over(self) -> bool:
        return self._met or self._stopped or self._budget.passed

    def _answer(
        self, message: str, solver: str, frame: Hull | None = None, stopped_by: StoppedBy | None = None
    ) -> SearchResult:
        if self._value == self._bound:
            stopped_by = StoppedBy.FINISHED
        elif stopped_by is None or self._stopped:
            cut = StoppedBy.INTERRUPT if self._stopped else StoppedBy.TIME_LIMIT
            stopped_by = StoppedBy.GAP if self._met else cut if self._over else StoppedBy.FINISHED
        if frame is not None and self._bound < self._value and frame.straight > _STRAIGHT:
            message += f"; inherently weak: the hull is straight over {frame.straight:.0%} of the servers"
        return SearchResult(self._counts, self._bound, message, solver, stopped_by)


def part(budget: Budget, share: float) -> Budget:
    """Return a budget that ends after the given fraction of the remaining time."""
    left = budget.left()
    return budget if left is None else budget.within(share * left)
