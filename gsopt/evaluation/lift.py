"""Lift: functions that turn an online policy into a heuristic, which simulates the policy on a problem."""

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
    """Turn a policy into a heuristic for scheduling that has the policy's name and options.

    The heuristic simulates the policy without overheads, with a decision at every event. The policy does not
    know whether the problem requires fairness or forbids preemption, so its schedule may violate these rules.
    In that case, the result has no solution, and its message names the job that is treated unfairly or
    preempted. The result also has no solution if the time limit ends the simulation.

    Examples
    --------
    >>> import gsopt
    >>> from heuristics.policies import efq
    >>> method, problem = lift(efq), gsopt.load("scheduling/small/ares-figure-4")
    >>> method.__name__, method(problem).objective, method(problem, alpha=1.0).objective
    ('efq', 4.833333333333333, 4.833333333333333)
    """
    return _lifted(policy, Scheduling, {}, ValidationError)


def lift_waiting(policy: Policy, **preset: Any) -> Callable[..., Result[WaitingSolution]]:
    """Turn a policy into a heuristic for waiting that has the policy's name and options.

    Options in `preset` replace defaults of the policy. The policy is simulated on the problem's cluster, and
    its starts are converted to the problem's exact clock. If the policy interrupts or moves a job, the
    heuristic returns no solution, and its message names the job.
    """
    return _lifted(policy, Waiting, preset, InvalidInput)


def lift_sharing(policy: Policy, **preset: Any) -> Callable[..., Result[SharingSolution]]:
    """Turn a policy into a heuristic for sharing, as `lift_waiting` does for waiting."""
    return _lifted(policy, Sharing, preset, InvalidInput)


def _lifted(
    policy: Policy, kind: type, preset: Mapping[str, Any], refused: type[ValueError]
) -> Callable[..., Result[Any]]:
    """Turn a policy into a heuristic that returns no solution if its schedule cannot be converted into one."""

    def method(
        problem: Scheduling | Waiting | Sharing, /, *, budget: Budget = UNLIMITED, **options: Any
    ) -> Any:
        scenario = problem.own_clock if isinstance(problem, Scheduling) else problem.scenario
        run = replay(scenario, partial(policy, **{**preset, **options}), record=True, budget=budget)
        if run.schedule is None:  # only without recording
            raise AssertionError
        try:
            solution: Any = problem.taken_over(run.schedule)
        except refused as error:  # such as one that goes on for longer than a solution can say
            return NoSolution(str(first_error("", error) if isinstance(error, ValidationError) else error))
        broken = problem.violations(solution) if _may_break_rules(problem) else []
        return NoSolution(broken[0]) if broken else solution

    method.__name__ = method.__qualname__ = name_of(policy)
    method.__doc__ = _described(policy)
    lifted: Callable[..., Result[Any]] = heuristic(method)
    given = Parameter("problem", Parameter.POSITIONAL_ONLY, annotation=kind)
    own = [each.replace(default=preset.get(each.name, each.default)) for each in _options_of(policy)]
    limit = Parameter("budget", Parameter.KEYWORD_ONLY, default=UNLIMITED, annotation=Budget)
    lifted.__signature__ = with_time_limit(Signature([given, *own, limit]))  # type: ignore[attr-defined]
    return lifted


def _described(policy: Policy) -> str | None:
    """Return the docstring of a policy, if any, with a note on the heuristic after the summary."""
    summary, gap, rest = (getdoc(policy) or "").partition("\n\n")
    note = "The heuristic simulates this policy on the problem. The following describes the policy."
    return f"{summary}\n\n{note}{gap}{rest}" if rest else summary or None


def _may_break_rules(problem: Scheduling | Waiting | Sharing) -> bool:
    """Check whether the problem has rules that the simulator does not enforce."""
    return not isinstance(problem, Scheduling) or problem.fairness is not None or not problem.preemptive


def _options_of(policy: Policy) -> list[Parameter]:
    """Return all parameters of a policy except the first, as keyword parameters."""
    try:
        behind = list(signature(policy).parameters.values())[1:]
    except ValueError:  # built into Python without a signature
        return []
    by_name = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    return [each.replace(kind=Parameter.KEYWORD_ONLY) for each in behind if each.kind in by_name]
