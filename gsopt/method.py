"""Methods: a method is any callable that takes a problem and returns a Result."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from time import perf_counter
from typing import Any, Concatenate, ParamSpec, TypeVar

from gsopt.problem import Frozen, Problem
from gsopt.result import Result

Options = ParamSpec("Options")
P = TypeVar("P", bound=Problem[Any])
S = TypeVar("S", bound=Frozen)

#: A method: called with a problem and its own keyword options, it returns a judged Result.
Method = Callable[..., Result[Any]]


@dataclass(frozen=True)
class NoSolution:
    """What a plain function returns when it found no solution.

    Attributes
    ----------
    message
        One line saying why.
    proven
        Whether that proves that there is none.
    """

    message: str
    proven: bool = False


def heuristic(
    function: Callable[Concatenate[P, Options], S | NoSolution],
) -> Callable[Concatenate[P, Options], Result[S]]:
    """Turn a plain function ``problem -> solution`` into a method that times and judges it.

    A function that finds no solution returns `NoSolution`.

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

    @wraps(function)
    def method(problem: P, /, *args: Options.args, **kwargs: Options.kwargs) -> Result[S]:
        begin = perf_counter()
        found = function(problem, *args, **kwargs)
        runtime = perf_counter() - begin
        name = function.__name__
        if isinstance(found, NoSolution):
            return Result.judged(
                problem, method=name, infeasible=found.proven, message=found.message, runtime=runtime
            )
        return Result.judged(problem, method=name, solution=found, runtime=runtime)

    return method


def accepts(method: Method, option: str) -> bool:
    """Tell whether a method takes a keyword option by name.

    Examples
    --------
    >>> from heuristics.reclaiming import random_choice
    >>> accepts(random_choice, "seed"), accepts(random_choice, "time_limit")
    (True, False)
    """
    return option in signature(method).parameters
