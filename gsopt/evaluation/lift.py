"""Lift: online policies as heuristics of decisions over time, each simulated on the problem's jobs and GPUs."""

from collections.abc import Callable, Mapping
from functools import partial
from inspect import Parameter, Signature, getdoc, signature
from typing import Any

from pydantic import ValidationError

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import InvalidInput
from gsopt.core.files import first_error
from gsopt.core.method import NoSolution, heuristic, name_of, with_time_limit
from gsopt.core.result import Result
from gsopt.problems.scheduling import Scheduling, SchedulingSolution
from gsopt.problems.sharing import Sharing, SharingSolution
from gsopt.problems.waiting import Waiting, WaitingSolution
from gsopt.simulation.policy import Policy
from gsopt.simulation.run import replay


def lift(policy: Policy) -> Callable[..., Result[SchedulingSolution]]:
    """Make a heuristic of scheduling of a policy, with the policy's name and options.

    A simulation that a budget cuts short gives no solution.

    The policy is simulated at exact event times and without overhead. It knows nothing of a problem's fairness,
    nor that jobs must not be preempted, so where that is asked its schedule may break it; then there is no
    solution, and the message names the job that is served unfairly or preempted.

    Examples
    --------
    >>> import gsopt
    >>> from heuristics.policies import efq
    >>> method, problem = lift(efq), gsopt.load("scheduling/small/ares-figure-4")
    >>> method.__name__, method(problem).objective, method(problem, alpha=1.0).objective
    ('efq', 4.833333333333333, 4.833333333333333)
    """

    def method(
        problem: Scheduling, /, *, budget: Budget = UNLIMITED, **options: Any
    ) -> SchedulingSolution | NoSolution:
        return _replayed(problem, partial(policy, **options), budget)

    return _dressed(method, policy, Scheduling, {})


def lift_waiting(policy: Policy, **preset: Any) -> Callable[..., Result[WaitingSolution]]:
    """Make a heuristic of waiting of a policy, with the policy's name and options.

    The policy is simulated on the problem's cluster, and what it starts is taken over on the problem's exact
    clock. Where it interrupts or moves a job there is no solution, and the message names the job.

    Parameters
    ----------
    policy
        The policy.
    preset
        Options that have another default here, such as those without which a policy would interrupt jobs.
    """
    return _lifted(policy, Waiting, preset)


def lift_sharing(policy: Policy, **preset: Any) -> Callable[..., Result[SharingSolution]]:
    """Make a heuristic of sharing of a policy, with the policy's name and options.

    The policy is simulated on the problem's GPUs, and what it starts is taken over on the problem's exact
    clock. Where it interrupts or moves a job there is no solution, and the message names the job.

    Parameters
    ----------
    policy
        The policy.
    preset
        Options that have another default here, such as those without which a policy would interrupt jobs.
    """
    return _lifted(policy, Sharing, preset)


def _lifted(policy: Policy, kind: type, preset: Mapping[str, Any]) -> Callable[..., Result[Any]]:
    """Make a heuristic of a policy for problems that take over what ran without interruption."""

    def method(problem: Waiting | Sharing, /, *, budget: Budget = UNLIMITED, **options: Any) -> Any:
        chosen = partial(policy, **{**preset, **options})
        run = replay(problem.scenario, chosen, record=True, budget=budget)
        if run.schedule is None:  # only without recording
            raise AssertionError
        try:
            solution: Any = problem.taken_over(run.schedule)
        except InvalidInput as error:
            return NoSolution(str(error))
        broken = problem.violations(solution)
        return NoSolution(broken[0]) if broken else solution

    return _dressed(method, policy, kind, preset)


def _dressed(
    method: Callable[..., Any], policy: Policy, problem: type, preset: Mapping[str, Any]
) -> Callable[..., Result[Any]]:
    """Make a heuristic of a function, with name, documentation and options of a policy."""
    method.__name__ = method.__qualname__ = name_of(policy)
    method.__doc__ = getdoc(policy)
    lifted: Callable[..., Result[Any]] = heuristic(method)
    given = Parameter("problem", Parameter.POSITIONAL_ONLY, annotation=problem)
    options = [each.replace(default=preset.get(each.name, each.default)) for each in _options_of(policy)]
    budget = Parameter("budget", Parameter.KEYWORD_ONLY, default=UNLIMITED, annotation=Budget)
    lifted.__signature__ = with_time_limit(Signature([given, *options, budget]))  # type: ignore[attr-defined]
    return lifted


def _options_of(policy: Policy) -> list[Parameter]:
    """Return the parameters of a policy behind its first, each as a keyword."""
    try:
        behind = list(signature(policy).parameters.values())[1:]
    except ValueError:  # built into Python without a signature
        return []
    by_name = [
        each for each in behind if each.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    ]
    return [each.replace(kind=Parameter.KEYWORD_ONLY) for each in by_name]


def _replayed(problem: Scheduling, policy: Policy, budget: Budget) -> SchedulingSolution | NoSolution:
    run = replay(problem.own_clock, policy, record=True, budget=budget)
    if run.schedule is None:  # only without recording
        raise AssertionError
    try:
        solution = problem.taken_over(run.schedule)
    except ValidationError as error:  # it goes on for longer than a solution can say
        return NoSolution(str(first_error("", error)))
    is_asked_more = problem.fairness is not None or not problem.preemptive
    if is_asked_more and (broken := problem.violations(solution)):
        return NoSolution(broken[0])
    return solution
