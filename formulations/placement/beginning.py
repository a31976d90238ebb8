"""Beginning: the first solution and bound, computed before the exact method starts."""

from formulations.placement.counting import counting_bound
from formulations.placement.integers import Bracket
from formulations.placement.packing import Filled, FillPatterns, Packing
from formulations.placement.start import construct
from gsopt.core.budget import Budget


def begin(packing: Packing, budget: Budget) -> tuple[FillPatterns, Bracket]:
    """Bound the objective by counting, and find a first solution.

    This is the better of the budget's start and a constructed solution. Nothing is constructed if the
    start attains the bound, if there is a start and workers may move between pools, or if some resource does
    not suffice.
    """
    bound = counting_bound(packing)
    budget.report(bound=bound)
    known: list[Filled] = [] if budget.start is None else [packing.encode(budget.start)]
    bracket = Bracket(packing.floor if bound is None else bound, infeasible=bound is None)
    if bound is not None and not (known and _is_enough(packing, known[0], bound)):
        own = construct(packing, budget)
        known += [] if own is None else [own]
    if not known:
        return FillPatterns.of((), len(packing.demands)), bracket
    best = min(known, key=packing.value)
    return best.patterns, bracket.with_point(best.values, packing.value(best))


def _is_enough(packing: Packing, known: Filled, bound: int) -> bool:
    """Check whether no construction is needed, because the start is optimal or workers form units."""
    return bool(packing.units) or packing.value(known) <= bound
