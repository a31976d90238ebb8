"""Studies: find the methods of a decision, run them on instances, and put value, bound and gap side by side.

One of the two roof files: it reaches `formulations`, `heuristics` and `instances` when they are needed.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from gsopt.backends import Backend, CpSat, Highs
from gsopt.backends.base import Solver
from gsopt.budget import DEFAULTS, Budget
from gsopt.comparison import Comparison, Row
from gsopt.errors import InvalidInput, Unsupported, shorten
from gsopt.files import problem_types
from gsopt.job import Workload
from gsopt.method import Method, accepts
from gsopt.problem import Problem, Sense
from gsopt.result import Result, StoppedBy, agree, refuse_contradiction, settles
from gsopt.simulation.policy import Policy

#: Seconds that `compare` gives each method on each instance unless told otherwise.
COMPARE_TIME_LIMIT = 60.0

#: Part of a time limit after which no further heuristic begins for the sake of a start.
_HEURISTICS_SHARE = 0.5

#: Seconds that they get in any case: of the half second that an answer may be late, what a worker leaves.
_HEURISTICS_GRACE = 0.2

_EXACT, _HEURISTIC = "exact", "heuristic"


def load(name: str) -> Problem[Any]:
    """Load a committed instance by name, or any instance file by path.

    Raises
    ------
    InvalidInput
        There is no such instance, or the file breaks a rule.

    Examples
    --------
    >>> load("reclaiming/aryl-figure-5").demand
    2
    """
    problem: Problem[Any] = import_module("instances").load(name)
    return problem


def names(prefix: str = "") -> list[str]:
    """List the names of the committed instances that start with a prefix.

    Examples
    --------
    >>> "reclaiming/aryl-figure-5" in names("reclaiming")
    True
    """
    found: list[str] = import_module("instances").names(prefix)
    return found


def exact_methods(word: str) -> dict[str, Method]:
    """Give the exact methods of a decision by name; the one called ``exact`` is the default.

    Examples
    --------
    >>> "exact" in exact_methods("reclaiming")
    True
    """
    return _exports("formulations", word)


def heuristics(word: str) -> dict[str, Method]:
    """Give the heuristics of a decision by name.

    Examples
    --------
    >>> "greedy" in heuristics("reclaiming")
    True
    """
    return _exports("heuristics", word)


def methods(word: str) -> dict[str, Method]:
    """Give every method of a decision by name, exact ones first."""
    return exact_methods(word) | heuristics(word)


def generators(word: str) -> dict[str, Callable[..., Any]]:
    """Give the instance generators of a decision by name; those of workloads for the word ``workloads``."""
    return _named_exports("instances.workloads") if word == "workloads" else _exports("instances", word)


def policies() -> dict[str, Policy]:
    """Give the online policies by name.

    Examples
    --------
    >>> "srtf" in policies()
    True
    """
    return _named_exports("heuristics.policies")


def trace_readers() -> dict[str, Callable[..., Any]]:
    """Give the readers of public traces by name.

    Examples
    --------
    >>> "philly" in trace_readers()
    True
    """
    return _named_exports("instances.traces")


def data_folder() -> Path | None:
    """Give the folder of public traces that ``GSOPT_DATA`` names; None when it names none."""
    folder: Path | None = import_module("instances").data_folder()
    return folder


def real_instances(word: str) -> list[Problem[Any]]:
    """Give the instances that the decision takes from real data; empty where the data are not at hand.

    The data folder is named by the environment variable ``GSOPT_DATA``.
    """
    folder = data_folder()
    reader = getattr(_package("instances", word), "from_data", None)
    return [] if folder is None or reader is None else list(reader(folder))


def demo_workload() -> tuple[Workload, int]:
    """Give the workload on which the demo compares policies, and a number of GPUs that it keeps busy.

    A busy day of the Philly trace where the data are at hand, else generated arrivals.
    """
    folder = data_folder()
    if folder is not None and (folder / "philly").is_dir():
        window = (50 * 86400.0, 51 * 86400.0)
        return trace_readers()["philly"](folder, window=window, max_gpus=128).workload, 128
    return generators("workloads")["poisson"](jobs=1000, gpus=32, load=1.0), 32


def find_method(word: str, name: str) -> Method:
    """Find one method of a decision by name.

    Raises
    ------
    InvalidInput
        The decision has no such method.

    Examples
    --------
    >>> find_method("reclaiming", "greedy").__name__
    'greedy'
    """
    known = methods(word)
    if name not in known:
        raise InvalidInput("", "method", shorten(name), f"must be one of {', '.join(known)}")
    return known[name]


def solve(
    problem: Problem[Any],
    method: Method | str | None = None,
    *,
    time_limit: float | None = None,
    **options: Any,
) -> Result[Any]:
    """Solve a problem with one method.

    An exact method starts from the best solution of the decision's heuristics, unless it is given a start, and
    returns nothing worse. With a time limit they get a part of it, those that the package lists first first.

    Parameters
    ----------
    problem
        The problem.
    method
        A method or its name; the decision's default exact method when None.
    time_limit
        Seconds, the heuristics included; methods that need no limit because they end at once do not receive it.
    options
        The method's own keyword options, and those of `gsopt.budget.Budget` for exact methods.

    Raises
    ------
    InvalidInput
        The method or an option does not exist, or the time limit is no positive number.
    Unsupported
        The method does not handle this problem.

    Examples
    --------
    >>> import gsopt
    >>> gsopt.solve(gsopt.load("reclaiming/aryl-figure-5"), time_limit=10).solution.servers
    ('s1', 's2')
    """
    if not isinstance(problem, Problem):
        raise InvalidInput("", "problem", shorten(problem), "must be a problem; gsopt.load gives one by name")
    chosen = (
        find_method(problem.word, "exact" if method is None else method) if not callable(method) else method
    )
    budget = Budget(time_limit=time_limit)
    for option in options:
        if not accepts(chosen, option):
            raise InvalidInput("", option, "", f"is not an option of {chosen.__name__}")
    if accepts(chosen, "budget"):
        granted = {name: options.pop(name) for name in DEFAULTS if name in options}
        budget = replace(budget, **granted)
        if budget.start is None:
            budget = replace(budget, start=best_of_heuristics(problem, budget))
        options["budget"] = budget
    elif time_limit is not None and accepts(chosen, "time_limit"):
        options["time_limit"] = time_limit
    return chosen(problem, **options)


def warm_up(*solvers: Backend) -> None:
    """Load what solving needs and start the solvers' processes, for services that want a fast first answer.

    Parameters
    ----------
    solvers
        The backends that will be used; HiGHS, and CP-SAT where it is installed, when there are none.

    Raises
    ------
    MissingSolver
        A solver is not installed, or does not start.

    Examples
    --------
    >>> warm_up()
    """
    chosen = solvers or tuple(kind() for kind in (Highs, CpSat) if find_spec(kind.package))
    for solver in chosen:
        if isinstance(solver, Solver):
            solver.prepare()
    for word in problem_types():
        exact_methods(word)
        heuristics(word)
    for solver in chosen:
        if isinstance(solver, Solver):
            solver.await_worker()


def best_of_heuristics(problem: Problem[Any], budget: Budget) -> Any:
    """Give the best solution that the decision's heuristics find; None when there is none.

    No further heuristic begins once half of the budget, and a moment, is spent.
    """
    best: Result[Any] | None = None
    for method in heuristics(problem.word).values():
        if best is not None and budget.passes(_HEURISTICS_SHARE, grace=_HEURISTICS_GRACE):
            break
        with suppress(Unsupported):
            best = _better(problem, best, method(problem))
    return None if best is None else best.solution


def _better(problem: Problem[Any], best: Result[Any] | None, found: Result[Any]) -> Result[Any] | None:
    if found.objective is None:
        return best
    if best is None or best.objective is None or problem.sense.better(found.objective, best.objective):
        return found
    return best


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
        best = best if result is None else _better(problem, best, result)
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


def _exports(package: str, word: str) -> dict[str, Any]:
    module = _package(package, word)
    return {} if module is None else _named_exports(module.__name__)


def _named_exports(package: str) -> dict[str, Any]:
    module = import_module(package)
    return {name: getattr(module, name) for name in module.__all__}


def _package(package: str, word: str) -> ModuleType | None:
    if word not in problem_types():
        raise InvalidInput(
            "", "decision", shorten(word), f"must be one of {', '.join(sorted(problem_types()))}"
        )
    name = f"{package}.{word}"
    return import_module(name) if find_spec(name) else None
