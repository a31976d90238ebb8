"""Compare: methods on problems, with value, best proven bound and gap side by side."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from gsopt.errors import Unsupported
from gsopt.method import Method, accepts
from gsopt.problem import Problem, Sense
from gsopt.result import Result, StoppedBy, agree, refuse_contradiction, settles
from gsopt.studies.catalogue import exact_methods, find_method, methods
from gsopt.studies.comparison import Comparison, Row
from gsopt.studies.solve import better_of, solve

#: Seconds that `compare` gives each method on each instance unless told otherwise.
COMPARE_TIME_LIMIT = 60.0


_EXACT, _HEURISTIC = "exact", "heuristic"


def compare(
    problems: Problem[Any] | Iterable[Problem[Any]],
    methods: Iterable[Method | str] | None = None,
    *,
    time_limit: float | None = COMPARE_TIME_LIMIT,
    on_row: Callable[[Row], Any] | None = None,
    **options: Any,
) -> Comparison:
    """Run methods on problems and put value, best proven bound and gap side by side.

    Heuristics run first, and exact methods start from the best solution that they found.

    Parameters
    ----------
    problems
        One problem or several.
    methods
        The methods or their names; every method of the decision when None.
    time_limit
        Seconds per method and instance, for the methods that take a limit.
    on_row
        Called with each row as it comes, before the instance's best bound is known.
    options
        Keyword options such as ``seed``, given to the methods that take them.

    Raises
    ------
    Contradiction
        A value is better than a bound that another method proved: one of the two is wrong.

    Examples
    --------
    >>> import gsopt
    >>> comparison = gsopt.compare(gsopt.load("reclaiming/aryl-figure-5"))
    >>> min(row.result.objective for row in comparison)
    1
    """
    rows: list[Row] = []
    chosen = None if methods is None else list(methods)
    for problem in [problems] if isinstance(problems, Problem) else problems:
        found, interrupted = _compare_one(problem, chosen, time_limit, on_row, options)
        rows += found
        if interrupted:
            return Comparison(tuple(rows), interrupted=True)
    return Comparison(tuple(rows))


def _compare_one(
    problem: Problem[Any],
    chosen: list[Method | str] | None,
    time_limit: float | None,
    on_row: Callable[[Row], Any] | None,
    options: dict[str, Any],
) -> tuple[list[Row], bool]:
    exact = exact_methods(problem.word)
    wanted = [
        find_method(problem.word, each) if isinstance(each, str) else each
        for each in (methods(problem.word) if chosen is None else chosen)
    ]
    rows: dict[int, Row] = {}
    best: Result[Any] | None = None
    interrupted = False
    for place in sorted(range(len(wanted)), key=lambda place: accepts(wanted[place], "budget")):
        method = wanted[place]
        taken = {name: value for name, value in options.items() if accepts(method, name)}
        if best is not None and accepts(method, "budget"):
            taken.setdefault("start", best.solution)
        result, note = None, ""
        try:
            result = solve(problem, method, time_limit=time_limit, **taken)
        except Unsupported as reason:
            note = str(reason)
        except KeyboardInterrupt:
            interrupted = True
            break
        best = best if result is None else better_of(problem, best, result)
        kind = _EXACT if method in exact.values() else _HEURISTIC
        rows[place] = Row(problem.name or problem.word, method.__name__, kind, problem, result, note=note)
        if on_row is not None:
            on_row(rows[place])
        if result is not None and result.stopped_by is StoppedBy.INTERRUPT:
            interrupted = True
            break
    return _settled(problem, [rows[place] for place in sorted(rows)]), interrupted


def _settled(problem: Problem[Any], rows: list[Row]) -> list[Row]:
    """Give every row the instance's best bound, after checking that no two rows contradict each other."""
    results = [row.result for row in rows if row.result is not None]
    proofs = [result for result in results if result.bound is not None]
    for result in results:
        for proof in proofs:
            if result.objective is not None and proof.bound is not None:
                refuse_contradiction(
                    problem.sense,
                    result.method,
                    result.objective,
                    proof.method,
                    proof.bound,
                    resolution=problem.resolution(result.objective),
                )
    bounds = [proof.bound for proof in proofs if proof.bound is not None]
    strongest = max if problem.sense is Sense.MINIMIZE else min
    bound = strongest(bounds, default=None)
    known = any(
        settles(result.objective, bound, problem.resolution(result.objective))
        for result in results
        if result.objective is not None
    )
    agreed = iter(agree(problem, results))
    return [
        replace(row, result=next(agreed) if row.result else None, bound=bound, optimum_known=known)
        for row in rows
    ]
