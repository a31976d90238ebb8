"""Column generation: the pattern model when the patterns are too many to enumerate."""

from dataclasses import replace
from functools import partial

from formulations.placement.answer import answer, without_model
from formulations.placement.beginning import begin
from formulations.placement.bounds import better_than, round_up
from formulations.placement.generation import Generation
from formulations.placement.maximal import maximal_patterns
from formulations.placement.packing import Packing
from formulations.placement.patterns import over_patterns
from formulations.placement.pricers import pricer
from formulations.placement.rounding import rounded
from formulations.placement.settle import settle
from gsopt.budget import Budget
from gsopt.method import exact_method
from gsopt.problems.placement import Placement, PlacementSolution
from gsopt.result import Result, StoppedBy

#: Where a gap remains, all maximal patterns are tried if they are no more than these.
_FEW = 2_000

#: Seconds for the program that is left when the relaxation is rounded down, and for the whole one.
_DIVE, _SEARCH = 3.0, 3.0


@exact_method()
def column_generation(problem: Placement, budget: Budget, *, seed: int = 0) -> Result[PlacementSolution]:
    """Solve the relaxation of the pattern model by column generation, then look for integers.

    The model is that of `formulations.placement.packing.Packing`. Patterns are generated while one has a
    negative reduced cost: first until the relaxation is feasible, then until it is optimal. The bound is
    Lagrange's, so there is one also where the time is up before. The relaxation is rounded down and the workers
    that are left are placed greedily at varied prices. Where that does not meet the bound, the integer programs
    over all patterns found follow, for some seconds. A gap may remain; where there are few maximal patterns all
    of them are tried.

    Size
    ----
    Some hundred columns for 50 demands; one row per demand and zone and one per kind of server. Pricing fills a
    table with an entry for every amount of every resource of a server, 300,000 for 8 GPUs, 92 cores and 350 GB,
    where that is at most 2,000,000 and workers are many; elsewhere it is a branch and bound.

    Source
    ------
    Aryl, section 5.3; Gilmore and Gomory, Operations Research 9 (1961) and 11 (1963).

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start, and the backend of the integer programs; linear programs go to HiGHS.
    seed
        Seed of the varied prices.

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
    patterns, settled = begin(packing, budget)
    if settled.closed(budget.gap):
        return answer(
            packing, patterns, settled, method="column_generation", budget=budget, message="resources counted"
        )
    pricers = tuple(pricer(packing, zone) for zone in packing.zones)
    relaxed = Generation(packing, pricers, budget).run(patterns)
    patterns = relaxed.patterns
    settled = replace(settled, infeasible=relaxed.infeasible, stopped_by=relaxed.stopped_by)
    if relaxed.bound > packing.floor and not relaxed.infeasible:
        settled = settled.with_bound(round_up(packing, relaxed.bound))
    if relaxed.optimum is not None and relaxed.prices is not None and not settled.closed(budget.gap):
        rounding = rounded(packing, patterns, relaxed.optimum, goal=settled.bound, budget=budget, seed=seed)
        patterns = rounding.patterns + rounding.others
        form = packing.form(patterns)
        if rounding.values is not None:
            settled = settled.with_point(rounding.values, packing.value(rounding.filled))
        settled = settle(
            form,
            relaxed.optimum,
            settled,
            prove=partial(better_than, packing, relaxed.prices),
            budget=budget,
            complete=False,
            dive=_DIVE,
            search=_SEARCH,
        )
        if settled.stopped_by is StoppedBy.TIME_LIMIT and not budget.passed:
            settled = replace(settled, stopped_by=StoppedBy.FINISHED)  # this method's own limits
    if settled.stopped_by is StoppedBy.FINISHED and not settled.closed(budget.gap):
        every = maximal_patterns(packing, limit=_FEW, budget=budget)
        if every is not None:
            return over_patterns(packing, patterns, settled, every, method="column_generation", budget=budget)
    return answer(
        packing,
        patterns,
        settled,
        method="column_generation",
        solver=budget.solver.name,
        budget=budget,
        message=f"{len(patterns):,} patterns generated in {relaxed.rounds} rounds",
    )
