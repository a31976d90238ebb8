"""Exact: a sequence of techniques for proving the optimum, from dynamic to mixed-integer programming."""

from dataclasses import replace

from formulations.reclaiming.milp import milp
from formulations.reclaiming.reduction import reduce, strict
from formulations.reclaiming.search import ReclaimingSearch, part
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.numbers.grid import Number
from gsopt.core.result import Result, Status, StoppedBy, is_within
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution

#: Fraction of the remaining time for each of the two reductions that only yield a bound and a start.
_SHARE = 0.25


@exact_method()
def exact(problem: Reclaiming, budget: Budget, *, width: int = 12) -> Result[ReclaimingSolution]:
    """Try the following techniques until one proves optimality; the message then names it.

    1. Dynamic programming (`decomposition`), if few jobs share servers.
    2. A bound: the lower convex hull of the minimum cost as a function of the number of servers. A first choice
       is derived from the hull, and often meets the bound.
    3. Dynamic programming over the core, if few of its jobs share servers. The core comprises the servers and
       jobs on which a better choice may differ from the best known one.
    4. Local search.
    5. For at most 400 servers, a bound that counts the pairs of servers that share jobs.
    6. A mixed-integer program over the core, unless there is a time limit and the core is too large.

    Costs are converted to integers, so a proven optimum is exact. If the hull is a straight line over more than
    half of the servers, its bound is weak. The message then says so, unless the optimum is proven.

    If a job survives the loss of any one of several servers, but not of all of them, or if collateral damage
    depends on flexible workers, steps 1 to 5 solve two simpler problems instead, which yield a bound and a
    solution. If the solution does not attain the bound, `milp` continues from it.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start, callback, and backend. Without a backend, step 6 uses CP-SAT if installed, and
        otherwise HiGHS.
    width
        Maximum number of jobs in one table of the dynamic programs; -1 disables dynamic programming.

    Raises
    ------
    InvalidSolution
        The start breaks a rule of the problem.
    MissingSolver
        The backend's solver is not installed.

    Notes
    -----
    Source: Aryl, section 4 and Appendix B, for the problem and its mixed-integer program.

    Examples
    --------
    >>> import gsopt
    >>> result = exact(gsopt.load("reclaiming/aryl-figure-5"))
    >>> result.objective, result.bound, result.message
    (1, 1, 'decomposition')
    """
    try:
        reduction = reduce(problem).net()
    except Unsupported:
        return _by_plain_model(problem, budget, width)

    def tell(counts: list[int], bound: int) -> object:
        found = _judged(problem, budget, reduction.lift(counts, problem), reduction.number(bound))
        return None if budget.on_incumbent is None else budget.on_incumbent(found)

    known = None if budget.start is None else reduction.counts(budget.start, problem)
    search = ReclaimingSearch(
        reduction,
        budget,
        width=width,
        on_better=None if budget.on_incumbent is None else tell,
        on_bound=lambda bound: budget.report(bound=reduction.number(bound)),
    )
    answer = search.run(known)
    solution, bound = reduction.lift(answer.counts, problem), reduction.number(answer.bound)
    return _judged(problem, budget, solution, bound, answer.message, answer.solver, answer.stopped_by)


def _by_plain_model(problem: Reclaiming, budget: Budget, width: int) -> Result[ReclaimingSolution]:
    """Solve the plain model, given a bound and a start from two reductions."""
    less = reduce(problem, optimistic=True).net()
    more = reduce(strict(problem)).net()
    below = ReclaimingSearch(less, part(budget, _SHARE), width=width).run(branch=False)
    above = ReclaimingSearch(more, part(budget, _SHARE), width=width).run(branch=False)
    known = [less.lift(below.counts, problem), more.lift(above.counts, problem)]
    known += [] if budget.start is None else [budget.start]
    best, bound = min(known, key=problem.objective), less.number(below.bound)
    first = _judged(problem, budget, best, bound, f"bound of a reduction: {below.message}", below.solver)
    stop = None if budget.on_incumbent is None else budget.on_incumbent(first)
    if first.status is Status.OPTIMAL:
        return first
    if stop is True:
        return replace(first, stopped_by=StoppedBy.INTERRUPT)
    if is_within(first.objective, first.bound, budget.gap):
        return replace(first, stopped_by=StoppedBy.GAP)
    if budget.passed:
        return replace(first, stopped_by=StoppedBy.TIME_LIMIT)
    last = milp(problem, budget=replace(budget, start=best))
    found, proven = last.solution or best, bound if last.bound is None else max(bound, last.bound)
    message = f"plain model by {last.solver}"
    return _judged(problem, budget, found, proven, message, last.solver, last.stopped_by)


def _judged(
    problem: Reclaiming,
    budget: Budget,
    solution: ReclaimingSolution,
    bound: Number,
    message: str = "",
    solver: str = "",
    stopped_by: StoppedBy = StoppedBy.FINISHED,
) -> Result[ReclaimingSolution]:
    return Result.judged(
        problem,
        method="exact",
        solution=solution,
        bound=bound,
        stopped_by=stopped_by,
        solver=solver,
        message=message,
        runtime=budget.runtime,
    )
