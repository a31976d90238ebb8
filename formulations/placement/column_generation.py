"""Column generation: the exact method for problems with too many patterns to enumerate."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from formulations.placement.answer import answer, tell, without_model
from formulations.placement.beginning import begin
from formulations.placement.bounds import better_than, round_up
from formulations.placement.dive import Diver
from formulations.placement.generation import Generation, Relaxed
from formulations.placement.integers import Bracket, solve_integers
from formulations.placement.linear import Optimum
from formulations.placement.maximal import maximal_patterns
from formulations.placement.packing import Filled, FillPatterns, Packing
from formulations.placement.patterns import over_patterns
from formulations.placement.pricers import pricer
from formulations.placement.pricing import Pricer
from formulations.placement.rounding import EFFORT, round_down
from gsopt.core.budget import Budget
from gsopt.core.method import exact_method
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.placement import Placement, PlacementSolution
from gsopt.solvers.backends import solver_of

#: Largest number of maximal patterns that are all tried if a gap remains.
_FEW = 2_000

#: Time limits in seconds for the integer program that remains after rounding down, and for the whole one.
_DIVE, _SEARCH = 3.0, 3.0

#: Fraction of the time limit available for the relaxation, and fraction after which no dive starts before the
#: integer programs.
_RELAXATION_PART, _DIVES_PART = 0.4, 0.8

#: Fraction of the remaining time available to continue an unfinished relaxation.
_MORE_PART = 0.8

#: Number of patterns per demand with which dives start.
_PATTERNS_PER_DEMAND = 4

#: Effort of rounding if dives follow.
_EFFORT = 20_000

#: Maximum number of dives before the integer programs, and in total.
_FIRST_DIVES, _DIVES = 5, 20


@exact_method()
def column_generation(problem: Placement, budget: Budget, *, seed: int = 0) -> Result[PlacementSolution]:
    """Solve the relaxation of the pattern model by column generation, then search for integer solutions.

    The model is that of `formulations.placement.packing.Packing`, which explains zones, pools and units. The
    search ends once value and bound meet.

    1. Generate patterns with negative reduced costs until the relaxation is optimal.
    2. Round the relaxation down, and place the remaining workers greedily.
    3. If pools do not matter, dive: fix patterns step by step, and generate new ones for the remaining workers.
    4. Solve integer programs over all patterns found, for a few seconds each.
    5. If there are few maximal patterns, solve the model over all of them.

    The bound is Lagrangian, so it is valid even if the relaxation is not optimal in time. A gap may remain.

    Size
    ----
    One column per generated pattern, one row per demand and zone, and one row per kind of server. If pools
    matter, also one column per unit and at most one per demand.

    Source
    ------
    Aryl, section 5.3; Gilmore and Gomory, Operations Research 9 (1961) and 11 (1963).

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start, and the backend of the integer programs. HiGHS solves the linear programs.
    seed
        Seed of the random choices in the greedy placement and in the dives.

    Raises
    ------
    Unsupported
        Racks or unallocated GPUs are minimized, or workers need parts of GPUs or GPUs of certain types.

    Examples
    --------
    >>> import gsopt
    >>> column_generation(gsopt.load("placement/small/six-items")).bound
    2
    """
    known = without_model(problem, "column_generation", budget)
    if known is not None:
        return known
    packing = Packing.of(problem)
    patterns, bracket = begin(packing, budget)
    if bracket.closed(budget.gap):
        return answer(packing, patterns, bracket, method=_NAME, budget=budget, message="resources counted")
    best = None if bracket.values is None else Filled(patterns, bracket.values)
    pricers = tuple(pricer(packing, zone) for zone in packing.zones)
    search = _ColumnSearch(packing, pricers, budget, seed, patterns, bracket.bound, best)
    for step in (_relax, _round, _dive_first, _relax_on, _solve_integers, _dive_on, _round_on, _solve_integers):
        search = step(search)
        budget.report(bound=search.bound)
        if search.ended:
            break
    patterns, bracket = search.known
    every = None if search.ended else maximal_patterns(packing, limit=_FEW, budget=budget)
    if every is not None:
        return over_patterns(packing, patterns, bracket, every, method=_NAME, budget=budget)
    return answer(
        packing,
        patterns,
        replace(bracket, stopped_by=search.ending),
        method=_NAME,
        solver=solver_of(budget).name,
        budget=budget,
        message=f"{len(search.patterns):,} patterns generated in {search.rounds} rounds, {search.dives} dives",
    )


_NAME = "column_generation"


@dataclass(frozen=True, eq=False)
class _ColumnSearch:
    """The state of a run of column generation."""

    # packing, pricers, budget, seed: the inputs of the run
    packing: Packing
    pricers: tuple[Pricer | None, ...]
    budget: Budget
    seed: int
    patterns: FillPatterns  # all patterns so far, starting with those of the relaxation
    # bound, best, infeasible: what is known about the problem
    bound: int
    best: Filled | None
    infeasible: bool = False
    relaxed: Relaxed | None = None  # the relaxation; None before it is solved
    diver: Diver | None = None  # the dives' shared state; None before the first dive
    rounds: int = 0  # number of rounds of pricing
    interrupted: bool = False  # whether the caller or the keyboard asked to stop

    @property
    def dives(self) -> int:
        """Number of dives so far."""
        return 0 if self.diver is None else self.diver.dives

    @property
    def value(self) -> int | None:
        """Objective of the best solution; None if there is none."""
        return None if self.best is None else self.packing.value(self.best)

    @property
    def known(self) -> tuple[FillPatterns, Bracket]:
        """Patterns of the best solution, and the bracket whose values refer to these patterns."""
        bracket = Bracket(self.bound, infeasible=self.infeasible)
        if self.best is None:
            return FillPatterns.of((), len(self.packing.demands)), bracket
        return self.best.patterns, bracket.with_point(self.best.values, self.packing.value(self.best))

    @property
    def ended(self) -> bool:
        """Whether the search is finished or must stop."""
        return self.interrupted or self.budget.passed or self.known[1].closed(self.budget.gap)

    @property
    def ending(self) -> StoppedBy:
        """Reason why the search ended."""
        _, bracket = self.known
        if bracket.closed():
            return StoppedBy.FINISHED
        if self.interrupted:
            return StoppedBy.INTERRUPT
        if bracket.closed(self.budget.gap):
            return StoppedBy.GAP
        return StoppedBy.TIME_LIMIT if self.budget.passed else StoppedBy.FINISHED

    def better(self, filled: Filled | None) -> "_ColumnSearch":
        """Return the search with the given solution as its best one if it improves on the known one."""
        if filled is None or (self.value is not None and self.value <= self.packing.value(filled)):
            return self
        stop = tell(self.packing, filled, self.bound, method=_NAME, budget=self.budget)
        return replace(self, best=filled, interrupted=self.interrupted or stop)


def _relax(search: _ColumnSearch) -> _ColumnSearch:
    """Generate patterns for a fraction of the remaining time."""
    budget, left = search.budget, search.budget.left()
    if left is not None:
        budget = budget.within((_RELAXATION_PART if search.relaxed is None else _MORE_PART) * left)
    before = None if search.relaxed is None else search.relaxed.prices
    relaxed = Generation(search.packing, search.pricers, budget).run(search.patterns, before)
    bound = search.bound
    if relaxed.bound > search.packing.floor and not relaxed.infeasible:
        bound = max(bound, round_up(search.packing, relaxed.bound))
    return replace(
        search,
        patterns=relaxed.patterns,
        bound=bound,
        infeasible=relaxed.infeasible and search.best is None,
        relaxed=relaxed,
        rounds=search.rounds + relaxed.rounds,
    )


def _relax_on(search: _ColumnSearch) -> _ColumnSearch:
    """Generate more patterns if the time limit was reached before the relaxation was optimal."""
    if search.relaxed is None or search.relaxed.stopped_by is not StoppedBy.TIME_LIMIT:
        return search
    return _round(_relax(search))


def _round_on(search: _ColumnSearch) -> _ColumnSearch:
    """Round down with full effort if this was not done before the dives."""
    return _round(search, EFFORT) if len(search.packing.zones) == 1 else search


def _round(search: _ColumnSearch, effort: int | None = None) -> _ColumnSearch:
    """Round the relaxation down, and place the remaining workers greedily, with less effort if dives follow."""
    if search.relaxed is None or search.relaxed.optimum is None:
        return search
    rounding = round_down(
        search.packing,
        search.relaxed.patterns,
        search.relaxed.optimum,
        goal=search.bound,
        budget=search.budget,
        seed=search.seed,
        effort=effort or (_EFFORT if len(search.packing.zones) == 1 else EFFORT),
    )
    found = search.better(rounding.filled)
    fresh = rounding.others.without(set(search.patterns.keys()))
    return replace(found, patterns=found.patterns + fresh)


def _dive_first(search: _ColumnSearch) -> _ColumnSearch:
    """Dive a few times, or only once if the relaxation is not optimal yet."""
    finished = search.relaxed is not None and search.relaxed.stopped_by is StoppedBy.FINISHED
    return _dive(search, _FIRST_DIVES if finished else 1, _DIVES_PART)


def _dive_on(search: _ColumnSearch) -> _ColumnSearch:
    """Dive again, up to the maximum number of dives."""
    return _dive(search, _DIVES, 1.0)


def _dive(search: _ColumnSearch, most: int, part: float) -> _ColumnSearch:
    """Dive until a solution meets the bound or a limit is reached.

    Problems with several zones are returned unchanged, because dives need a single one.
    """
    packing, relaxed = search.packing, search.relaxed
    if len(packing.zones) > 1 or relaxed is None or relaxed.optimum is None:
        return search
    promising = _promising(packing, relaxed.patterns, relaxed.optimum)
    diver = search.diver or Diver(packing, promising, np.random.default_rng(search.seed))
    search = replace(search, diver=diver)
    while diver.dives < most and not search.ended and not search.budget.passes(part):
        goal = np.inf if search.value is None else search.value - 1
        search = search.better(diver.dive(goal, search.budget))
    fresh = diver.patterns.without(set(search.patterns.keys()))
    return replace(search, patterns=search.patterns + fresh)


def _promising(packing: Packing, patterns: FillPatterns, optimum: Optimum) -> FillPatterns:
    """Return the patterns of the relaxation with the smallest reduced costs, a few per demand."""
    form = packing.form(patterns)
    reduced = (form.cost - form.matrix.T @ optimum.duals)[packing.moves :]
    kept = np.zeros(len(patterns), dtype=np.bool_)
    kept[np.argsort(reduced, kind="stable")[: _PATTERNS_PER_DEMAND * len(packing.demands)]] = True
    return patterns.only(kept)


def _solve_integers(search: _ColumnSearch) -> _ColumnSearch:
    """Solve integer programs over the patterns so far."""
    relaxed, packing = search.relaxed, search.packing
    if relaxed is None or relaxed.optimum is None or relaxed.prices is None:
        return search
    patterns, bracket = search.patterns, Bracket(search.bound)
    if search.best is not None:
        moved, times = np.split(search.best.values, [packing.moves])
        values = np.concatenate([moved, np.zeros(len(patterns), dtype=np.int64), times])
        bracket = bracket.with_point(values, packing.value(search.best))
        patterns += search.best.patterns
    bracket = solve_integers(
        packing.form(patterns),
        relaxed.optimum,
        bracket,
        prove=partial(better_than, packing, relaxed.prices),
        budget=search.budget,
        complete=False,
        dive=_DIVE,
        search=_SEARCH,
    )
    found = search if bracket.values is None else search.better(Filled(patterns, bracket.values))
    stopped = bracket.stopped_by is StoppedBy.INTERRUPT
    return replace(found, bound=bracket.bound, interrupted=found.interrupted or stopped)
