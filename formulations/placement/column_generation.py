"""Column generation: the pattern model when the patterns are too many to enumerate."""

from dataclasses import replace
from functools import partial

import numpy as np

from formulations.deadline import Deadline
from formulations.placement.answer import answer, without_model
from formulations.placement.bounds import better_than, round_up
from formulations.placement.generation import Generation
from formulations.placement.maximal import maximal_patterns
from formulations.placement.packing import Integers, Packing
from formulations.placement.patterns import over_patterns
from formulations.placement.pricing import pricer
from formulations.placement.rounding import rounded
from formulations.placement.settle import Settled, settle
from gsopt.backends import Backend, Highs
from gsopt.problems.placement import Placement, PlacementSolution
from gsopt.result import Result, StoppedBy

#: Where a gap remains, all maximal patterns are tried if they are no more than these.
_FEW = 2_000

#: Seconds for the program that is left when the relaxation is rounded down, and for the whole one.
_DIVE, _SEARCH = 3.0, 3.0


def column_generation(
    problem: Placement,
    *,
    backend: Backend | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    log: bool = False,
) -> Result[PlacementSolution]:
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
    table with an entry for every amount of GPU, CPU and memory of a server, 300,000 for 8 GPUs, 92 cores and
    350 GB; where that is more than 2,000,000 it solves integer programs.

    Source
    ------
    Aryl, section 5.3; Gilmore and Gomory, Operations Research 9 (1961) and 11 (1963).

    Parameters
    ----------
    problem
        The problem.
    backend
        Solver of the integer programs; HiGHS when None. Linear programs go to HiGHS.
    time_limit
        Seconds; None for none.
    seed
        Seed of the varied prices.
    log
        Stream the solver's log to standard error.

    Examples
    --------
    >>> import gsopt
    >>> column_generation(gsopt.load("placement/small/six-items")).bound
    2
    """
    deadline = Deadline(time_limit)
    known = without_model(problem, "column_generation", deadline)
    if known is not None:
        return known
    solver = backend or Highs()
    packing = Packing.of(problem)
    pricers = tuple(pricer(packing, zone, solver) for zone in packing.zones)
    relaxed = Generation(packing, pricers, deadline).run()
    patterns = relaxed.patterns
    settled = Settled(packing.floor, infeasible=relaxed.infeasible, stopped_by=relaxed.stopped_by)
    if relaxed.outcome is not None and relaxed.prices is not None:
        bound = round_up(packing, max(relaxed.bound, packing.floor))
        rounding = rounded(packing, patterns, relaxed.outcome, goal=bound, deadline=deadline, seed=seed)
        patterns = rounding.patterns + rounding.others
        form = packing.form(patterns)
        settled = settle(
            form,
            relaxed.outcome,
            Settled.at(form, _padded(rounding.values, form.cost.size), bound),
            prove=partial(better_than, packing, relaxed.prices),
            backend=solver,
            deadline=deadline,
            complete=False,
            dive=_DIVE,
            search=_SEARCH,
            log=log,
        )
        if settled.stopped_by is StoppedBy.TIME_LIMIT and not deadline.passed:
            settled = replace(settled, stopped_by=StoppedBy.FINISHED)  # this method's own limits
    if settled.stopped_by is StoppedBy.FINISHED and not (settled.closed or settled.infeasible):
        every = maximal_patterns(packing, limit=_FEW)
        if every is not None:
            return over_patterns(
                packing, every, method="column_generation", backend=solver, deadline=deadline, log=log
            )
    return answer(
        packing,
        patterns,
        settled,
        method="column_generation",
        solver=solver.name,
        deadline=deadline,
        message=f"{len(patterns):,} patterns generated in {relaxed.rounds} rounds",
    )


def _padded(values: Integers | None, columns: int) -> Integers | None:
    return None if values is None else np.pad(values, (0, columns - values.size))
