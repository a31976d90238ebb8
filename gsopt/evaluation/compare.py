"""Compare: the function that runs several methods and compares their values with the best proven bounds."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gsopt.core.budget import TimeLimit, checked_time_limit
from gsopt.core.errors import Contradiction, InvalidInput, Unsupported, one_line, shorten
from gsopt.core.method import MethodLike, accepts, name_of, proves
from gsopt.core.problem import Problem
from gsopt.core.result import Result, StoppedBy
from gsopt.evaluation.catalogue import exact_methods, find_method, free_name, is_path
from gsopt.evaluation.catalogue import methods as methods_of
from gsopt.evaluation.comparison import Comparison, ComparisonRow, settled
from gsopt.evaluation.solve import better_of, solve
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario

#: Default time limit in `compare` for each method on each instance, in seconds.
COMPARE_TIME_LIMIT = 60.0

_EXACT, _HEURISTIC = "exact", "heuristic"


def compare(
    problems: Problem[Any] | Iterable[Problem[Any]],
    methods: MethodLike | str | Iterable[MethodLike | str] | None = None,
    *,
    time_limit: TimeLimit = COMPARE_TIME_LIMIT,
    on_row: Callable[[ComparisonRow], Any] | None = None,
    **options: Any,
) -> Comparison:
    """Run methods on problems, and compare their values with the best proven bounds.

    Heuristics run first, and exact methods start from the best solution found so far. If a method raises an
    error, its row shows the error and the other methods still run; only a `Contradiction` is raised. Ctrl-C
    ends the comparison, which then contains the rows so far.

    Parameters
    ----------
    problems
        One or more problems.
    methods
        Methods, plain functions ``problem -> solution``, or names, which may have the form
        ``package.module:function``. None means all methods for the decision.
    time_limit
        Time limit for each method on each instance, in seconds or as a string such as ``30s``. Methods that
        accept no limit ignore it.
    on_row
        Called with each row as soon as it is complete, before the best bound of the instance is known.
    options
        Keyword options such as ``seed``, passed to the methods that accept them.

    Raises
    ------
    InvalidInput
        A problem, method or time limit is invalid. This is checked before any method runs.
    Contradiction
        A value is better than a proven bound, so one of the two is wrong.

    Examples
    --------
    >>> import gsopt
    >>> comparison = gsopt.compare(gsopt.load("reclaiming/aryl-figure-5"))
    >>> min(row.result.objective for row in comparison)
    1
    """
    limit = checked_time_limit(time_limit)
    rows: list[ComparisonRow] = []
    for problem, wanted in _wanted(problems, methods):
        found, interrupted = _compare_one(problem, wanted, limit, on_row, options)
        rows += found
        if interrupted:
            return Comparison(tuple(rows), interrupted=True)
    return Comparison(tuple(rows))


def _wanted(
    problems: Problem[Any] | Iterable[Problem[Any]],
    chosen: MethodLike | str | Iterable[MethodLike | str] | None,
) -> list[tuple[Problem[Any], dict[str, MethodLike]]]:
    """Return the problems, each with the methods to run on it, keyed by unique names."""
    if isinstance(problems, Workload | Scenario):
        rule = "must be a problem; policies on a workload are compared by gsopt.compare_policies"
        raise InvalidInput("problems", f"a {type(problems).__name__.lower()}", rule)
    if isinstance(chosen, str) or callable(chosen):
        chosen = [chosen]
    several = None if chosen is None else list(chosen)
    if isinstance(problems, Problem) or not isinstance(problems, Iterable) or isinstance(problems, str):
        problems = [problems]
    found = []
    for problem in problems:
        if not isinstance(problem, Problem):
            rule = "must be a problem; gsopt.load gives one by name"
            raise InvalidInput("problems", shorten(problem), rule)
        if several is None:
            found.append((problem, methods_of(problem.word)))
            continue
        named: dict[str, MethodLike] = {}
        for each in several:
            method = find_method(problem.word, each)
            name = each if isinstance(each, str) and not is_path(each) else name_of(method)
            named[free_name(name, named)] = method
        found.append((problem, named))
    return found


def _compare_one(
    problem: Problem[Any],
    wanted: Mapping[str, MethodLike],
    time_limit: float | None,
    on_row: Callable[[ComparisonRow], Any] | None,
    options: dict[str, Any],
) -> tuple[list[ComparisonRow], bool]:
    exact = exact_methods(problem.word)
    rows: dict[str, ComparisonRow] = {}
    best: Result[Any] | None = None
    interrupted = False
    for name in sorted(wanted, key=lambda name: proves(wanted[name])):
        method = wanted[name]
        taken = {option: value for option, value in options.items() if accepts(method, option)}
        if best is not None and proves(method):
            taken.setdefault("start", best.solution)
        result, note, failed = None, "", False
        try:
            result = solve(problem, method, time_limit=time_limit, **taken)
        except Unsupported as reason:
            note = str(reason)
        except KeyboardInterrupt:
            interrupted = True
            break
        except Contradiction as error:  # then no row is to be trusted
            raise Contradiction(f"{problem.name or problem.word}: {error}") from None
        except Exception as error:  # noqa: BLE001 - it may be anybody's method; the other rows do not depend on it
            note, failed = one_line(error), True
        best = best if result is None else better_of(problem, best, result)
        kind = _EXACT if method in exact.values() or proves(method) else _HEURISTIC
        rows[name] = ComparisonRow(
            problem.name or problem.word, name, kind, problem, result, note=note, failed=failed
        )
        if on_row is not None:
            on_row(rows[name])
        if result is not None and result.stopped_by is StoppedBy.INTERRUPT:
            interrupted = True
            break
    return settled(problem, [rows[name] for name in wanted if name in rows]), interrupted
