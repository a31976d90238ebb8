"""Solve: the function that solves a problem with one method; exact methods start from a heuristic solution."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from gsopt.core.budget import DEFAULTS, Budget, TimeLimit
from gsopt.core.errors import InvalidInput, Unsupported, shorten
from gsopt.core.log import logger_of
from gsopt.core.method import MethodLike, accepts, cut_short, name_of, proves, run, watched
from gsopt.core.numbers.compiled import is_installed
from gsopt.core.problem import Problem, S
from gsopt.core.progress import KnownBracket, Watch
from gsopt.core.result import Result, StoppedBy, plain
from gsopt.evaluation.catalogue import exact_methods, find_backend, find_method, own_heuristics
from gsopt.evaluation.display import Display
from gsopt.problems.reader import problem_types
from gsopt.solvers.backends import Backend, CpSat, Highs
from gsopt.solvers.backends.base import Solver

_LOGGER = logger_of(__name__)

#: Fraction of a time limit that is reserved for the exact method; the heuristics before it may use the rest.
_EXACT_SHARE = 0.5

#: Minimum time for the heuristics in seconds, as part of the half second by which an answer may be late.
_LEAST_SECONDS = 0.3


def solve(
    problem: Problem[S],
    method: MethodLike | str | None = None,
    *,
    time_limit: TimeLimit = None,
    display: bool = False,
    **options: Any,
) -> Result[S]:
    """Solve a problem with one method.

    Before it starts an exact method, gsopt runs its own heuristics for the decision, unless `start` is given.
    The best solution that they find is the start. An exact method never returns a solution that is worse than
    its start.

    Parameters
    ----------
    problem
        The problem.
    method
        A method, a plain function ``problem -> solution``, or a name, which may have the form
        ``package.module:function``. None for the decision's default exact method.
    time_limit
        Time limit for the heuristics and the method together, in seconds or as a string such as ``30s`` or
        ``2min``. At least half of it is reserved for an exact method. The result is normally returned at most
        half a second after the limit, but a slow heuristic may delay it further. Methods that take almost no
        time ignore the limit, and so do plain functions without an argument `budget` or `time_limit`.
    display
        For exact methods only: whether to show value, bound, gap and time on standard error during the run.
    options
        The method's own keyword options, and those of `gsopt.core.budget.Budget` for exact methods. A backend
        may be given by its name, such as ``highs``.

    Raises
    ------
    InvalidInput
        The method or an option does not exist, the time limit is invalid, or the method returns something other
        than a solution, a `Result` or a `gsopt.core.method.NoSolution`.
    InvalidSolution
        The start, or the solution that the method returns, breaks a rule of the problem.
    Unsupported
        The method does not handle this problem.
    MissingSolver
        The solver that the method uses is not installed, or does not start.

    Examples
    --------
    >>> import gsopt
    >>> gsopt.solve(gsopt.load("reclaiming/aryl-figure-5"), time_limit=10).solution.servers
    ('s1', 's2')
    """
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", shorten(problem), "must be a problem; gsopt.load gives one by name")
    chosen = find_method(problem.word, "exact" if method is None else method)
    if options.get("backend") is not None:
        options["backend"] = find_backend(options["backend"])
    budget = Budget(time_limit=time_limit)
    for option in [*options, *["display"] * display]:
        if not accepts(chosen, "on_progress" if option == "display" else option):
            raise InvalidInput(option, "", f"is not an option of {name_of(chosen)}")
    if proves(chosen):
        granted = {name: options.pop(name) for name in DEFAULTS if name in options}
        budget = replace(budget, **granted)
        with shown(problem, budget) if display else watched(budget, problem) as followed:
            try:
                return _run(chosen, problem, budget=_from_heuristics(problem, followed), **options)
            except KeyboardInterrupt:
                found = cut_short(problem, followed, name_of(chosen), StoppedBy.INTERRUPT, "interrupted")
                if found.solution is None:
                    raise
                return found
    if accepts(chosen, "budget"):
        options.setdefault("budget", budget)
    elif time_limit is not None and accepts(chosen, "time_limit"):
        options["time_limit"] = budget.time_limit
    return _run(chosen, problem, **options)


def _run(method: MethodLike, problem: Problem[S], **options: Any) -> Result[S]:
    """Run a method, and log its start and its result."""
    begun = {"instance": problem.name or problem.word, "method": name_of(method)}
    _LOGGER.info("%(method)s begins on %(instance)s", begun, extra=begun)
    result = run(method, problem, **options)
    if _LOGGER.isEnabledFor(logging.INFO):
        numbers = {"objective": plain(result.objective), "bound": plain(result.bound), "gap": result.gap}
        ended = {
            "status": result.status.value,
            "stopped_by": result.stopped_by.value,
            "runtime": result.runtime,
        }
        found = begun | numbers | ended
        _LOGGER.info(
            "%(method)s on %(instance)s: %(status)s, value %(objective)s, bound %(bound)s, gap %(gap)s, "
            "stopped by %(stopped_by)s after %(runtime).3f s",
            found,
            extra=found,
        )
    return result


@contextmanager
def shown(problem: Problem[Any], budget: Budget) -> Iterator[Budget]:
    """Yield a budget that displays the progress of the method that uses it."""
    with Display(problem) as screen:

        def tell(known: KnownBracket) -> None:
            screen(known)
            if budget.on_progress is not None:
                budget.on_progress(known)

        with watched(replace(budget, on_progress=tell), problem) as followed:
            yield followed


def _from_heuristics(problem: Problem[Any], budget: Budget) -> Budget:
    """Return a budget with the best solution of the heuristics as its start, unless a start is given.

    The heuristics leave part of the time for the exact method.
    """
    if budget.start is not None:
        return budget
    started = replace(budget, start=best_of_heuristics(problem, budget))
    if budget.time_limit is None:
        return started
    least = budget.runtime + _EXACT_SHARE * budget.time_limit
    return replace(started, time_limit=max(budget.time_limit, least))


def warm_up(*solvers: Backend | str) -> None:
    """Load methods and their compiled code, and start the solver processes, so that the first solve is fast.

    Parameters
    ----------
    solvers
        The backends that will be used, or their names, such as ``highs``. By default, these are HiGHS and, if
        installed, CP-SAT.

    Raises
    ------
    InvalidInput
        There is no backend of that name.
    MissingSolver
        A solver is not installed, or does not start.

    Examples
    --------
    >>> warm_up()
    """
    given = solvers or tuple(kind() for kind in (Highs, CpSat) if find_spec(kind.package))
    chosen = [find_backend(each, field="solvers") for each in given]
    for solver in chosen:
        if isinstance(solver, Solver):
            solver.prepare()
    for word in problem_types():
        own_heuristics(word)
        for method in exact_methods(word).values():
            load = getattr(method, "warm_up", None)
            if load is not None:
                load()
    if is_installed():
        from gsopt.schedule.bounds.prices.evaluation import load_kernel

        load_kernel()
    for solver in chosen:
        if isinstance(solver, Solver):
            with solver.worker():
                pass  # it is there


def best_of_heuristics(problem: Problem[Any], budget: Budget) -> Any:
    """Return the best solution of gsopt's own heuristics for the decision, or None if they find none.

    Heuristics from other packages are not run, because a faulty one could make the exact method fail. All
    heuristics together may use half of the time limit, or 0.3 seconds if that is more. Each heuristic except
    the last may use two thirds of what is left of this time, so that a slow heuristic leaves time for the
    others. When the time is up, no further heuristic starts unless there is no solution yet.
    """
    if budget.time_limit is not None:
        most = max((1 - _EXACT_SHARE) * budget.time_limit, _LEAST_SECONDS)
        budget = replace(budget, time_limit=most)
    best: Result[Any] | None = None
    methods = list(own_heuristics(problem.word).values())
    for method in methods:
        if best is not None and budget.passed:
            break
        left = budget.left()
        own = budget if left is None or method is methods[-1] else budget.within(left * 2 / 3)
        with suppress(Unsupported):
            found = method(problem, **({"budget": own} if accepts(method, "budget") else {}))
            if isinstance(budget.on_progress, Watch):
                budget.on_progress.hear(found, budget.runtime)
            best = better_of(problem, best, found)
    return None if best is None else best.solution


def better_of(problem: Problem[Any], best: Result[Any] | None, found: Result[Any]) -> Result[Any] | None:
    """Return the better of two results, or `best` if they are equally good."""
    if found.objective is None:
        return best
    if best is None or best.objective is None or problem.sense.better(found.objective, best.objective):
        return found
    return best
