"""Patterns: the exact model over every maximal way to fill a server."""

from functools import partial

import numpy as np

from formulations.deadline import Deadline
from formulations.placement.answer import answer, without_model
from formulations.placement.bounds import Prices, better_than, lagrange, round_up
from formulations.placement.maximal import maximal_patterns
from formulations.placement.packing import Packing, Patterns, Reals
from formulations.placement.rounding import rounded
from formulations.placement.settle import Settled, settle
from gsopt.backends import Backend, Highs
from gsopt.errors import Unsupported
from gsopt.problems.placement import Placement, PlacementSolution
from gsopt.result import Result, Status

#: More patterns than these are no task for one integer program.
MOST_PATTERNS = 20_000


def patterns(
    problem: Placement,
    *,
    backend: Backend | None = None,
    time_limit: float | None = None,
    most: int = MOST_PATTERNS,
    log: bool = False,
) -> Result[PlacementSolution]:
    """Enumerate the maximal patterns and choose how often to use each.

    The model is that of `formulations.placement.packing.Packing`, whose docstring gives sets, variables,
    objective and constraints. Its relaxation is solved first and rounded down; the small program that is left
    nearly always meets the relaxation's bound. If not, the whole program is solved without the patterns whose
    reduced cost rules them out.

    Size
    ----
    One column per maximal pattern of every kind of server: hundreds with 8 demands, tens of thousands with 20;
    one row per demand and zone and one per kind. The number of workers does not matter.

    Source
    ------
    Aryl, section 5.3; Gilmore and Gomory, Operations Research 9 (1961).

    Parameters
    ----------
    problem
        The problem.
    backend
        Solver of the integer programs; HiGHS when None. The linear program goes to HiGHS.
    time_limit
        Seconds; None for none.
    most
        Maximal patterns at most.
    log
        Stream the solver's log to standard error.

    Raises
    ------
    Unsupported
        There are more maximal patterns than that.

    Examples
    --------
    >>> import gsopt
    >>> patterns(gsopt.load("placement/small/six-items")).objective
    2
    """
    deadline = Deadline(time_limit)
    known = without_model(problem, "patterns", deadline)
    if known is not None:
        return known
    packing = Packing.of(problem)
    every = maximal_patterns(packing, limit=most)
    if every is None:
        raise Unsupported(f"patterns: there are more than {most:,}; column_generation makes do without")
    return over_patterns(
        packing, every, method="patterns", backend=backend or Highs(), deadline=deadline, log=log
    )


def over_patterns(
    packing: Packing,
    every: Patterns,
    *,
    method: str,
    backend: Backend,
    deadline: Deadline,
    log: bool = False,
) -> Result[PlacementSolution]:
    """Solve the pattern model over all maximal patterns."""
    message = f"{len(every):,} maximal patterns of {len(packing.kinds):,} kinds of servers"
    relaxed = Highs().solve(packing.form(every).relaxation, time_limit=deadline.left(), log=log)
    if relaxed.duals is None:
        infeasible = relaxed.status is Status.INFEASIBLE
        settled = Settled(packing.floor, infeasible=infeasible, stopped_by=relaxed.stopped_by)
    else:
        prices = _prices(packing, every, relaxed.duals)
        bound = round_up(packing, lagrange(packing, prices))
        rounding = rounded(packing, every, relaxed, goal=bound, deadline=deadline)
        every = rounding.patterns
        form = packing.form(every)
        settled = settle(
            form,
            relaxed,
            Settled.at(form, rounding.values, bound),
            prove=partial(better_than, packing, prices),
            backend=backend,
            deadline=deadline,
            complete=True,
            log=log,
        )
    return answer(
        packing,
        every,
        settled,
        method=method,
        solver=backend.name,
        deadline=deadline,
        message=message,
    )


def _prices(packing: Packing, every: Patterns, duals: Reals) -> Prices:
    """Read prices out of the relaxation's duals, with what the patterns are worth at them."""
    worth = packing.worth(duals)
    most = np.zeros((len(packing.zones), len(packing.kinds)))
    np.maximum.at(most, (every.zone, every.kind), (every.counts * worth[every.zone]).sum(axis=1))
    return Prices(worth, most)
