"""Methods: callables that take a problem and return a `Result`."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from time import perf_counter
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from gsopt.core.budget import DEFAULTS, Budget, TimeLimit
from gsopt.core.errors import InvalidInput, TimeUp, kept_running, require, shorten
from gsopt.core.numbers.grid import Number
from gsopt.core.problem import Frozen, Problem
from gsopt.core.progress import Watch
from gsopt.core.result import Result, Status, StoppedBy, judged_value, value_of

Options = ParamSpec("Options")
P = TypeVar("P", bound=Problem[Any])
P_contra = TypeVar("P_contra", bound=Problem[Any], contravariant=True)
S = TypeVar("S", bound=Frozen)

#: A method: called with a problem and its own keyword options, it returns a judged Result.
Method = Callable[..., Result[Any]]

#: A method, or a plain function ``problem -> solution``; see `run`.
MethodLike = Callable[..., Any]


@dataclass(frozen=True)
class NoSolution:
    """Return value of a function ``problem -> solution`` that finds no solution.

    Attributes
    ----------
    message
        The reason, in one line.
    proven
        Whether it is proven that no solution exists.
    """

    message: str
    proven: bool = False


def heuristic(
    function: Callable[Concatenate[P, Options], S | NoSolution],
) -> Callable[Concatenate[P, Options], Result[S]]:
    """Turn a plain function ``problem -> solution`` into a method that is timed and judged.

    A function that finds no solution must return `NoSolution`. A function with a keyword argument `budget` must
    observe the budget's time limit: when it is reached, the function returns its best solution so far, or
    raises `gsopt.core.errors.TimeUp` if it has none. A method made from such a function also takes
    ``time_limit``. `gsopt.solve` and `gsopt.compare` accept plain functions, too, and judge them in the same
    way.

    Examples
    --------
    >>> import gsopt
    >>> from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
    >>> @heuristic
    ... def first(problem: Reclaiming) -> ReclaimingSolution:
    ...     return ReclaimingSolution(servers=[s.name for s in problem.servers[: problem.demand]])
    >>> first(gsopt.load("reclaiming/aryl-figure-5")).objective
    1
    """
    own = signature(function)
    is_timed = "budget" in own.parameters and "time_limit" not in own.parameters

    @wraps(function)
    def method(problem: P, /, *args: Options.args, **kwargs: Options.kwargs) -> Result[S]:
        options: dict[str, Any] = dict(kwargs)
        if is_timed:
            limit = {"time_limit": options.pop("time_limit", None)}
            options["budget"] = whole_budget(options.get("budget"), limit)
        return run(function, problem, *args, **options)

    if is_timed:
        method.__signature__ = with_time_limit(own)  # type: ignore[attr-defined]
    return method


def with_time_limit(own: Signature) -> Signature:
    """Return a method's signature with the parameter ``time_limit`` added."""
    limit = Parameter("time_limit", Parameter.KEYWORD_ONLY, default=None, annotation=TimeLimit)
    *others, last = own.parameters.values()
    behind = [limit, last] if last.kind is Parameter.VAR_KEYWORD else [last, limit]
    return own.replace(parameters=[*others, *behind])


def run(method: MethodLike, problem: Problem[S], /, *args: Any, **options: Any) -> Result[S]:
    """Call a method or a plain function ``problem -> solution``, and judge its result.

    If the call returns a `Result`, which has been judged already, it is returned as it is. If the call raises
    `gsopt.core.errors.TimeUp`, the result has no solution.

    Raises
    ------
    InvalidInput
        The call returns something other than a solution, a `Result` or `NoSolution`.
    InvalidSolution
        The returned solution breaks a rule of the problem.
    Exited
        The call tries to end the program.

    Examples
    --------
    >>> import gsopt
    >>> problem = gsopt.load("reclaiming/aryl-figure-5")
    >>> run(lambda problem: NoSolution("not today"), problem).message
    'not today'
    >>> run(lambda problem: 7, problem)
    Traceback (most recent call last):
    gsopt.core.errors.InvalidInput: <lambda>: 7: must return a ReclaimingSolution, a Result or NoSolution
    """
    name = name_of(method)
    begin, stopped_by = perf_counter(), StoppedBy.FINISHED
    try:
        with kept_running(name):
            found: Any = method(problem, *args, **options)
    except TimeUp as late:
        found, stopped_by = NoSolution(str(late)), StoppedBy.TIME_LIMIT
    runtime = perf_counter() - begin
    if isinstance(found, Result):
        return found
    if isinstance(found, NoSolution):
        return Result.judged(
            problem,
            method=name,
            infeasible=found.proven,
            message=found.message,
            runtime=runtime,
            stopped_by=stopped_by,
        )
    if not isinstance(found, problem.solution_type):
        rule = f"must return a {problem.solution_type.__name__}, a Result or NoSolution"
        hint = "; gsopt.lift turns a policy into a heuristic" if hasattr(found, "decide") else ""
        raise InvalidInput(name, shorten(found), rule + hint)
    solution: Any = found
    return Result.judged(problem, method=name, solution=solution, runtime=runtime)


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a method or policy, with the keyword options set by `functools.partial`.

    Examples
    --------
    >>> from heuristics.policies import tiresias
    >>> name_of(tiresias), name_of(partial(tiresias, promote=2.0))
    ('tiresias', 'tiresias(promote=2.0)')
    """
    if isinstance(function, partial):
        options = ", ".join(f"{name}={value!r}" for name, value in function.keywords.items())
        return f"{name_of(function.func)}({options})" if options else name_of(function.func)
    return getattr(function, "__name__", type(function).__name__)


class ExactMethod(Protocol[P_contra, S]):
    """The interface of exact methods.

    An exact method accepts a `gsopt.core.budget.Budget` or the options of one, and its own options.
    """

    __name__: str

    def __call__(self, problem: P_contra, /, *, budget: Budget | None = None, **options: Any) -> Result[S]:
        """Solve a problem within a budget, given as a whole or as separate options."""
        ...


def exact_method(
    *, unused: Collection[str] = (), warm_up: Callable[[], None] | None = None
) -> Callable[[Callable[Concatenate[P, Budget, Options], Result[S]]], ExactMethod[P, S]]:
    """Turn a function ``(problem, budget) -> result`` into an exact method.

    The method takes the options of a budget one by one, or a whole budget, so that methods can call each other
    within one budget. Its result is never worse than the budget's start solution, even after Ctrl-C.

    Parameters
    ----------
    unused
        Options of the budget that the method ignores. If the caller sets one to a value other than its default,
        the result's message says that the method does not take it.
    warm_up
        Function that loads everything that the method would load on its first call; `gsopt.warm_up` calls it.

    Raises
    ------
    InvalidInput, InvalidSolution
        Raised by the method if an option is invalid, or if the start breaks a rule of the problem.

    Examples
    --------
    >>> import gsopt
    >>> from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
    >>> @exact_method(unused=["backend", "log"])
    ... def nothing(problem: Reclaiming, budget: Budget) -> Result[ReclaimingSolution]:
    ...     return Result.judged(problem, method="nothing", bound=0, runtime=budget.runtime)
    >>> problem = gsopt.load("reclaiming/aryl-figure-5")
    >>> known = ReclaimingSolution(servers=["s1", "s2"])
    >>> result = nothing(problem, start=known, log=True)
    >>> result.objective, result.bound, result.message
    (1, 0, 'the start is the best known; nothing takes no log')
    """

    def decorate(function: Callable[Concatenate[P, Budget, Options], Result[S]]) -> ExactMethod[P, S]:
        technique: Callable[..., Result[S]] = function

        @wraps(function)
        def method(problem: P, /, *, budget: Budget | None = None, **options: Any) -> Result[S]:
            granted = {name: options.pop(name) for name in DEFAULTS if name in options}
            given = whole_budget(budget, granted)

            def run(watched: Budget) -> Result[S]:
                return technique(problem, watched, **options)

            return solve_within(given, problem, technique.__name__, run, unused)

        own = signature(function)
        kept = [own.parameters[name] for name in own.parameters if name != "budget"]
        types = {each.name: each.type for each in fields(Budget)} | {"time_limit": TimeLimit}
        added = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=types[name])
            for name, default in DEFAULTS.items()
        ]
        whole = Parameter("budget", Parameter.KEYWORD_ONLY, default=None, annotation=Budget | None)
        method.unused = frozenset(unused)  # type: ignore[attr-defined]
        method.warm_up = warm_up  # type: ignore[attr-defined]
        method.__signature__ = own.replace(parameters=[*kept, *added, whole])  # type: ignore[attr-defined]
        return method

    return decorate


def whole_budget(budget: Budget | None, options: Mapping[str, Any]) -> Budget:
    """Return the given budget, or one made from separate options.

    Raise `InvalidInput` if a budget is given together with an option that differs from its default.
    """
    if budget is None:
        return Budget(**options)
    require(isinstance(budget, Budget), "budget", budget, "must be a gsopt.Budget")
    for name, value in options.items():
        require(value == DEFAULTS[name], name, value, "must be part of the budget if one is given")
    return budget


def solve_within(
    budget: Budget,
    problem: Problem[S],
    name: str,
    run: Callable[[Budget], Result[S]],
    unused: Collection[str] = (),
) -> Result[S]:
    """Run an exact method, and replace its solution by the start if the start is better.

    The result's message lists the options that the caller set and the method ignores.

    If the method is interrupted, or raises `gsopt.core.errors.TimeUp`, the result has the best solution known:
    the start, or one that the method recorded. Solutions are recorded only if the caller asks for incumbents or
    progress, because judging each takes time. If none is known, `KeyboardInterrupt` is raised again, but after
    `TimeUp`, a result without a solution is returned.
    """
    _check_start(problem, budget.start)
    with watched(budget, problem) as inner:
        if budget.start is not None:
            inner.report(value=value_of(problem, budget.start))
        try:
            found = run(inner)
        except KeyboardInterrupt:
            found = cut_short(problem, inner, name, StoppedBy.INTERRUPT, "interrupted")
            if found.solution is None and budget.start is None:
                raise
        except TimeUp as late:
            found = cut_short(problem, inner, name, StoppedBy.TIME_LIMIT, str(late))
        found = no_worse(found, problem, budget.start)
        if isinstance(inner.on_progress, Watch):
            inner.on_progress.hear(found, budget.runtime)
    dropped = [option for option in budget.asked if option in unused]
    if not dropped:
        return found
    return replace(found, message=_joined(found.message, f"{name} takes no {' and no '.join(dropped)}"))


def cut_short(problem: Problem[S], budget: Budget, name: str, stopped_by: StoppedBy, message: str) -> Result[S]:
    """Return a result with the best solution and bound that a method recorded before it was stopped."""
    watch = budget.on_progress if isinstance(budget.on_progress, Watch) else None
    return Result.judged(
        problem,
        method=name,
        solution=None if watch is None or watch.best is None else watch.best.solution,
        bound=None if watch is None else watch.bound,
        runtime=budget.runtime,
        stopped_by=stopped_by,
        message=message,
    )


@contextmanager
def watched(budget: Budget, problem: Problem[Any]) -> Iterator[Budget]:
    """Yield a budget that reports each improvement, and the final state, to the caller's `on_progress`.

    A budget that was already yielded by this function is yielded unchanged.

    Examples
    --------
    >>> import gsopt
    >>> asked = Budget(on_progress=lambda known: print(known.value))
    >>> with watched(asked, gsopt.load("reclaiming/aryl-figure-5")) as budget:
    ...     for value in (3, 3, 4, 2):
    ...         budget.report(value=value)
    3
    2
    2
    """
    if isinstance(budget.on_progress, Watch):
        yield budget
        return
    watch = Watch(problem, budget.on_progress)
    inner = replace(budget, on_progress=watch)

    def hear(incumbent: Result[Any]) -> Any:
        watch.hear(incumbent, budget.runtime)
        return None if budget.on_incumbent is None else budget.on_incumbent(incumbent)

    is_asked = budget.on_progress is not None or budget.on_incumbent is not None
    yield replace(inner, on_incumbent=hear) if is_asked else inner
    watch.end(budget.runtime)


def _check_start(problem: Problem[Any], start: Any) -> None:
    if start is None:
        return
    kind = problem.solution_type
    rule = f"must be a {kind.__name__}, a solution of the problem"
    require(isinstance(start, kind), "start", start, rule)
    judged_value(problem, "start", start)


def no_worse(found: Result[S], problem: Problem[S], known: S | None) -> Result[S]:
    """Return the given result, or one with the known solution if that is better."""
    if known is None:
        return found
    value = value_of(problem, known)
    if found.objective is not None and not problem.sense.better(value, found.objective):
        return found
    message = _joined(found.message, "the start is the best known")
    return _judged_again(replace(found, message=message), problem, known, found.bound)


def tightened(found: Result[S], problem: Problem[S], bound: Number) -> Result[S]:
    """Return the given result, or one with the given bound if that is tighter."""
    if found.status is Status.INFEASIBLE or not (
        found.bound is None or problem.sense.better(found.bound, bound)
    ):
        return found
    return _judged_again(found, problem, found.solution, bound)


def _judged_again(found: Result[S], problem: Problem[S], solution: S | None, bound: Number | None) -> Result[S]:
    return Result.judged(
        problem,
        method=found.method,
        solution=solution,
        bound=bound,
        infeasible=found.status is Status.INFEASIBLE,
        stopped_by=found.stopped_by,
        solver=found.solver,
        message=found.message,
        runtime=found.runtime,
    )


def _joined(message: str, more: str) -> str:
    return f"{message}; {more}" if message else more


def proves(method: MethodLike) -> bool:
    """Check whether a method counts as exact: its signature names `budget` and all options of a budget.

    Examples
    --------
    >>> from formulations.goodput import exact
    >>> from heuristics.goodput import greedy
    >>> proves(exact), proves(greedy), accepts(greedy, "budget")
    (True, False, True)
    """
    return all(accepts(method, option) for option in ("budget", *DEFAULTS))


def uses(method: Method, option: str) -> bool:
    """Check whether a method takes a keyword option and does not ignore it.

    Examples
    --------
    >>> from formulations.reclaiming import decomposition, milp
    >>> uses(milp, "backend"), uses(milp, "colour")
    (True, False)
    """
    return accepts(method, option) and option not in getattr(method, "unused", ())


def accepts(method: MethodLike, option: str) -> bool:
    """Check whether an option is among the parameters that a method names in its signature."""
    try:
        return option in signature(method).parameters
    except ValueError:  # built into Python without a signature
        return False
