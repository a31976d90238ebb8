"""Methods: a method is any callable that takes a problem and returns a Result."""

from collections.abc import Callable
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


def heuristic(
    function: Callable[Concatenate[P, Options], S],
) -> Callable[Concatenate[P, Options], Result[S]]:
    """Turn a plain function ``problem -> solution`` into a method that times and judges it.

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
        solution = function(problem, *args, **kwargs)
        runtime = perf_counter() - begin
        return Result.judged(problem, method=function.__name__, solution=solution, runtime=runtime)

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
