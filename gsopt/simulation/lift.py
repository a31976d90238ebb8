"""Lift: online policies as heuristics of scheduling, each simulated on the problem's jobs and GPUs."""

from collections.abc import Callable
from functools import partial
from inspect import Parameter, Signature, getdoc, signature
from typing import Any

from pydantic import ValidationError

from gsopt.files import first_error
from gsopt.method import NoSolution, heuristic, name_of
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.result import Result
from gsopt.simulation.policy import Policy
from gsopt.simulation.run import replay

#: The parameter that a method has where the policy has its state.
_PROBLEM = Parameter("problem", Parameter.POSITIONAL_ONLY, annotation=Scheduling)


def lift(policy: Policy) -> Callable[..., Result[SchedulingSolution]]:
    """Make a heuristic of scheduling of a policy, with the policy's name and options.

    The policy is simulated at exact event times and without overhead. It knows nothing of a problem's fairness,
    so where there is one its schedule may break it; then there is no solution, and the message names the job
    that is served unfairly.

    Examples
    --------
    >>> import gsopt
    >>> from heuristics.policies import efq
    >>> method, problem = lift(efq), gsopt.load("scheduling/small/ares-figure-4")
    >>> method.__name__, method(problem).objective, method(problem, alpha=1.0).objective
    ('efq', 4.833333333333333, 4.833333333333333)
    """

    def method(problem: Scheduling, /, **options: Any) -> SchedulingSolution | NoSolution:
        return _replayed(problem, partial(policy, **options))

    method.__name__ = method.__qualname__ = name_of(policy)
    method.__doc__ = getdoc(policy)
    lifted = heuristic(method)
    lifted.__signature__ = Signature([_PROBLEM, *_options_of(policy)])  # type: ignore[attr-defined]
    return lifted


def _options_of(policy: Policy) -> list[Parameter]:
    """Give the parameters of a policy behind its first, each as a keyword."""
    try:
        behind = list(signature(policy).parameters.values())[1:]
    except ValueError:  # built into Python without a signature
        return []
    by_name = [
        each for each in behind if each.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    ]
    return [each.replace(kind=Parameter.KEYWORD_ONLY) for each in by_name]


def _replayed(problem: Scheduling, policy: Policy) -> SchedulingSolution | NoSolution:
    run = replay(problem.scenario, policy, record=True)
    if run.schedule is None:  # only without recording
        raise AssertionError
    try:
        solution = SchedulingSolution.of(run.schedule)
    except ValidationError as error:  # it goes on for longer than a solution can say
        return NoSolution(str(first_error("", error)))
    if problem.fairness is not None and (broken := problem.violations(solution)):
        return NoSolution(broken[0])
    return solution
