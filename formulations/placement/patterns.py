"""Patterns: the exact method that solves the model over all maximal fillings of a server."""

from dataclasses import replace
from functools import partial

import numpy as np

from formulations.placement.answer import answer, without_model
from formulations.placement.beginning import begin
from formulations.placement.bounds import WorkerPrices, better_than, lagrange, round_up
from formulations.placement.generation import ending
from formulations.placement.integers import Bracket, solve_integers
from formulations.placement.linear import Optimum
from formulations.placement.master import Master
from formulations.placement.maximal import maximal_patterns
from formulations.placement.packing import FillPatterns, Packing
from formulations.placement.rounding import round_down
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.numbers.tolerances import REDUCED_COST
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.placement import Placement, PlacementSolution
from gsopt.solvers.backends import solver_of

#: Default for the largest number of patterns in one integer program.
MOST_PATTERNS = 20_000


@exact_method()
def patterns(problem: Placement, budget: Budget, *, most: int = MOST_PATTERNS) -> Result[PlacementSolution]:
    """Enumerate the maximal patterns (ways to fill one server), and decide how often to use each of them.

    The model is that of `formulations.placement.packing.Packing`, which explains zones, pools and units.
    Its relaxation is solved and rounded down. If the result does not meet the bound, the integer program is
    solved.

    If time runs out during the enumeration, the result is a quick bound and, if one was found, a quick
    placement.

    Size
    ----
    One column per maximal pattern of every zone and kind of server, one row per demand and zone, and one row
    per kind. If pools matter, also one column per unit and at most one per demand.

    Source
    ------
    Aryl, section 5.3; Gilmore and Gomory, Operations Research 9 (1961).

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start, and the backend of the integer programs. HiGHS solves the linear program.
    most
        Largest number of maximal patterns to enumerate.

    Raises
    ------
    Unsupported
        There are more maximal patterns than `most`, enumerating them would take too many steps, racks or
        unallocated GPUs are minimized, or workers need parts of GPUs or GPUs of certain types.

    Examples
    --------
    >>> import gsopt
    >>> patterns(gsopt.load("placement/small/six-items")).objective
    2
    """
    known = without_model(problem, "patterns", budget)
    if known is not None:
        return known
    packing = Packing.of(problem)
    first, bracket = begin(packing, budget)
    if bracket.closed(budget.gap):
        return answer(packing, first, bracket, method="patterns", budget=budget, message="resources counted")
    every = maximal_patterns(packing, limit=most, budget=budget)
    if every is None and budget.passed:
        bracket = replace(bracket, stopped_by=StoppedBy.TIME_LIMIT)
        message = "stopped in the enumeration"
        return answer(packing, first, bracket, method="patterns", budget=budget, message=message)
    if every is None:
        raise Unsupported(f"patterns: there are more than {most:,}; use column_generation")
    return over_patterns(packing, first, bracket, every, method="patterns", budget=budget)


def over_patterns(
    packing: Packing, first: FillPatterns, bracket: Bracket, every: FillPatterns, *, method: str, budget: Budget
) -> Result[PlacementSolution]:
    """Solve the pattern model over all maximal patterns and the patterns of the known solution."""
    message = f"{len(every):,} maximal patterns of {len(packing.kinds):,} kinds of servers"
    patterns = first + every
    master = Master(packing)
    master.add(patterns)
    missing = master.solve(budget, counting_cost=False)
    optimum = None if missing is None or missing.objective > REDUCED_COST else master.solve(budget)
    if missing is not None and missing.objective > REDUCED_COST:
        prices = _prices(packing, patterns, missing, most=1.0)
        bracket = replace(bracket, infeasible=lagrange(packing, prices, counting_cost=False) > 0)
    elif optimum is None:
        bracket = replace(bracket, stopped_by=ending(budget))
    else:
        prices = _prices(packing, patterns, optimum)
        bracket = bracket.with_bound(round_up(packing, lagrange(packing, prices)))
        budget.report(bound=bracket.bound)
        rounding = round_down(packing, patterns, optimum, goal=bracket.bound, budget=budget)
        patterns = rounding.patterns
        if rounding.filled is not None:
            bracket = bracket.with_point(rounding.filled.values, packing.value(rounding.filled))
        bracket = solve_integers(
            packing.form(patterns),
            optimum,
            bracket,
            prove=partial(better_than, packing, prices),
            budget=budget,
            complete=True,
        )
    return answer(
        packing,
        patterns,
        bracket,
        method=method,
        solver=solver_of(budget).name,
        budget=budget,
        message=message,
    )


def _prices(
    packing: Packing, patterns: FillPatterns, optimum: Optimum, *, most: float = np.inf
) -> WorkerPrices:
    """Return worker prices from the duals of the relaxation, capped at `most`, and bounds from the patterns."""
    worth = np.minimum(packing.worth(optimum.duals), most)
    best = np.zeros((len(packing.zones), len(packing.kinds)))
    np.maximum.at(best, (patterns.zone, patterns.kind), (patterns.counts * worth[patterns.zone]).sum(axis=1))
    return WorkerPrices(worth, best)
