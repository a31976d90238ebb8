"""Exact: the fastest proof at hand, from dynamic programming to mixed-integer programming."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from math import inf
from time import perf_counter
from typing import Any

from formulations.reclaiming.bound import Relaxation, relaxed
from formulations.reclaiming.decomposition import Plan, optimum, plan
from formulations.reclaiming.growth import grown
from formulations.reclaiming.milp import milp
from formulations.reclaiming.reduced import arrays, point
from formulations.reclaiming.reduction import Reduction, reduce
from gsopt.backends import Backend, CpSat, Highs, Incumbent
from gsopt.errors import Unsupported
from gsopt.problem import Number
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.result import Result, Status, StoppedBy, judged_value, relative_gap, same

OnIncumbent = Callable[[Incumbent], Any]

#: Most additions that the tables of the whole problem may take: some 8 ms, about what the relaxation needs.
_WORK = 2_000_000

#: Most additions once the relaxation is solved: some 40 ms, less than a mixed-integer program needs.
_WORK_OF_REST = 20_000_000


@dataclass(frozen=True)
class _Options:
    begin: float
    deadline: float
    gap: float
    backend: Backend | None
    on_incumbent: OnIncumbent | None
    width: int
    log: bool

    @property
    def remaining(self) -> float | None:
        """Seconds left; None for no limit."""
        return None if self.deadline == inf else max(0.0, self.deadline - perf_counter())


@dataclass(frozen=True)
class _Answer:
    counts: list[int]
    bound: Number
    message: str
    solver: str = ""
    stopped_by: StoppedBy = StoppedBy.FINISHED


def exact(
    problem: Reclaiming,
    *,
    time_limit: float | None = None,
    gap: float = 0.0,
    backend: Backend | None = None,
    start: ReclaimingSolution | None = None,
    on_incumbent: OnIncumbent | None = None,
    width: int = 12,
    log: bool = False,
) -> Result[ReclaimingSolution]:
    """Solve a problem to proven optimality, by the first of these techniques that succeeds.

    1. Reduction, and dynamic programming (`decomposition`) where the jobs hang together loosely.
    2. The linear relaxation. Where it is integral it is kept; the rest is a small problem between two nested
       sets of jobs, solved by dynamic programming. Often its value meets the bound.
    3. Reduced costs leave a core: what a better solution can look like. Dynamic programming where it is narrow.
    4. A mixed-integer program of the core, by CP-SAT where it is installed and the costs are integers, else by
       HiGHS.

    Where a job survives some sets of lost workers and not others, or collateral damage depends on flexible
    workers, steps 1 to 4 solve the problem as if every base worker were needed and cost alone counted. That
    gives a start for `milp`.

    Parameters
    ----------
    problem
        The problem.
    time_limit
        Seconds; None for none. The best solution and bound until then are returned.
    gap
        Relative gap at which to stop.
    backend
        Solver of the mixed-integer program; the relaxation is always solved by HiGHS.
    start
        A known solution.
    on_incumbent
        Called with each incumbent of the mixed-integer program, in the columns of `reduced` or `milp`;
        returning True stops.
    width
        Most jobs in one table of the dynamic programs; -1 does without dynamic programming.
    log
        Stream the log of the mixed-integer program's solver to standard error.

    Raises
    ------
    InvalidSolution
        The start breaks a rule of the problem.
    MissingSolver
        The backend's solver is not installed.

    Source: Aryl, section 4 and Appendix B, for the problem and its mixed-integer program.

    Examples
    --------
    >>> import gsopt
    >>> result = exact(gsopt.load("reclaiming/aryl-figure-5"))
    >>> result.objective, result.bound, result.message
    (1, 1, 'decomposition')
    """
    begin = perf_counter()
    deadline = inf if time_limit is None else begin + time_limit
    options = _Options(begin, deadline, gap, backend, on_incumbent, width, log)
    if start is not None:
        judged_value(problem, "start", start)
    try:
        reduction = reduce(problem)
    except Unsupported:
        return _by_plain_model(problem, options, start)
    known = [] if start is None else [reduction.counts(start, problem)]
    answer = _by_reduction(reduction, options, known)
    solution = reduction.lift(answer.counts, problem)
    return Result.judged(
        problem,
        method="exact",
        solution=solution,
        bound=answer.bound,
        stopped_by=answer.stopped_by,
        solver=answer.solver,
        message=answer.message,
        runtime=perf_counter() - begin,
    )


def _by_reduction(reduction: Reduction, options: _Options, known: list[list[int]]) -> _Answer:
    program = _affordable(reduction, options.width, _WORK)
    if program is not None:
        counts = _cheapest(reduction, [optimum(program, reduction.demand)])
        return _Answer(counts, reduction.number(reduction.value(counts)), "decomposition", "decomposition")
    relaxation, stopped_by = relaxed(reduction, time_limit=options.remaining)
    if relaxation is None:
        counts = _cheapest(reduction, [*known, grown(reduction)])
        return _Answer(counts, 0, "stopped in the linear relaxation", stopped_by=stopped_by)
    bound = reduction.rounded_up(relaxation.bound)
    counts = _cheapest(reduction, [*known, _small_or_grown(relaxation.rounded(), options.width)])
    value = reduction.number(reduction.value(counts))
    if same(value, bound):
        return _Answer(counts, bound, "LP bound met by rounding", Highs.name)
    if (relative_gap(value, bound) or inf) <= options.gap:
        return _Answer(counts, bound, "LP bound met by rounding", Highs.name, StoppedBy.GAP)
    return _by_core(relaxation, counts, bound, options)


def _by_core(relaxation: Relaxation, counts: list[int], bound: Number, options: _Options) -> _Answer:
    """Search what reduced costs leave of the problem, given a solution and a bound below its value."""
    reduction = relaxation.reduction
    value = reduction.value(counts)
    program = _affordable(relaxation.core(value - float(reduction.step or 0)), options.width, _WORK_OF_REST)
    if program is not None:
        counts = _cheapest(reduction, [counts, optimum(program, reduction.demand)])
        best = reduction.number(reduction.value(counts))
        return _Answer(counts, best, "core of the LP by decomposition", Highs.name)
    core = relaxation.core(value)
    form = arrays(core)
    backend = options.backend or (CpSat() if form.integral_objective and find_spec("ortools") else Highs())
    outcome = backend.solve(
        form,
        time_limit=options.remaining,
        gap=options.gap,
        start=point(core, counts),
        on_incumbent=options.on_incumbent,
        log=options.log,
    )
    if outcome.values is not None:
        found = form.rounded(outcome.values)[len(core.weights) :]
        counts = _cheapest(reduction, [counts, [int(count) for count in found]])
    best = reduction.number(reduction.value(counts))
    if outcome.bound is not None:
        bound = max(bound, min(best, reduction.rounded_up(outcome.bound)))
    if outcome.status is Status.INFEASIBLE:
        bound = best
    return _Answer(counts, bound, f"core of the LP by {outcome.solver}", outcome.solver, outcome.stopped_by)


def _by_plain_model(
    problem: Reclaiming, options: _Options, start: ReclaimingSolution | None
) -> Result[ReclaimingSolution]:
    """Solve the plain model from the best choice for tagged workers and cost alone."""
    simple = problem.model_copy(update={"elasticity": "tagged", "second_objective": "none"})
    first = exact(
        simple, time_limit=options.remaining, gap=options.gap, backend=options.backend, width=options.width
    )
    known = [solution for solution in (start, first.solution) if solution is not None]
    bounds: list[Number] = [0]
    if problem.elasticity == "tagged" and first.bound is not None:
        bounds.append(first.bound * (1 + sum(job.gpus for job in problem.jobs)))
    ending = first
    if first.stopped_by in (StoppedBy.FINISHED, StoppedBy.GAP):
        ending = milp(
            problem,
            backend=options.backend,
            time_limit=options.remaining,
            gap=options.gap,
            start=min(known, key=problem.objective),
            log=options.log,
        )
        known += [] if ending.solution is None else [ending.solution]
        bounds += [] if ending.bound is None else [ending.bound]
    return Result.judged(
        problem,
        method="exact",
        solution=min(known, key=problem.objective),
        bound=max(bounds),
        stopped_by=ending.stopped_by,
        solver=ending.solver,
        message=f"plain model by {ending.solver}" if ending.method == milp.name else ending.message,
        runtime=perf_counter() - options.begin,
    )


def _affordable(reduction: Reduction, width: int, work: int) -> Plan | None:
    program = plan(reduction, width)
    return program if program is not None and program.work(reduction.demand) <= work else None


def _small_or_grown(reduction: Reduction, width: int) -> list[int] | None:
    program = _affordable(reduction, width, _WORK_OF_REST)
    return grown(reduction) if program is None else optimum(program, reduction.demand)


def _cheapest(reduction: Reduction, choices: Iterable[list[int] | None]) -> list[int]:
    return min((counts for counts in choices if counts is not None), key=reduction.value)
