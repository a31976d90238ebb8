"""Fairness: the smallest delay behind generalized processor sharing for which a problem has a solution."""

from bisect import bisect_left
from dataclasses import dataclass, replace

from formulations.scheduling.instance import Instance
from formulations.scheduling.order import OrderPlan, best_plan, event_order, least_delay
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.problems.scheduling import Scheduling
from gsopt.schedule.fairness import gps_finish_times


@dataclass(frozen=True)
class Fairest:
    """The smallest possible maximum delay behind generalized processor sharing, and a plan that achieves it.

    Attributes
    ----------
    delay
        The delay in seconds; 0 if every job can complete no later than under generalized processor sharing.
    plan
        A plan in which no job is delayed by more than `delay`.
    """

    delay: float
    plan: OrderPlan


def smallest_fairness(problem: Scheduling, *, time_limit: float | None = None) -> float:
    """Return the smallest constant C of Ares, Eq. 1, for which a problem has a solution.

    With a constant C, each job is due C seconds after its completion under generalized processor sharing. If
    these deadlines can be met at all, they can be met with completions in the order of the deadlines. So one
    linear program for each order of deadlines and release dates decides whether they can be met. Bisection
    finds the order, which changes only where a deadline passes a release date.

    Parameters
    ----------
    problem
        The problem, whose own `fairness` is ignored.
    time_limit
        Time limit in seconds; None for no limit.

    Returns
    -------
    float
        The constant in seconds, which is non-negative.

    Raises
    ------
    TimeoutError
        The constant was not found in time.
    Unsupported
        Preemption is not allowed, or the problem is too large: the product of the numbers of jobs, GPUs, and
        events (completions, and distinct release dates after the first) exceeds 2,000,000.
    """
    budget = Budget(time_limit=time_limit)
    found = fairest(problem, budget)
    if found is not None:
        return found.delay
    if budget.passed:
        raise TimeoutError(f"no smallest fairness was found within {time_limit} s")
    raise Unsupported("smallest fairness: the problem is too large")


def fairest(problem: Scheduling, budget: Budget) -> Fairest | None:
    """Find the constant of `smallest_fairness` and a plan that achieves it, or return None.

    The result is None if time runs out, or if the problem is too large for `best_plan`.
    """
    if not problem.preemptive:
        raise Unsupported("smallest fairness: the problem must allow preemption")
    fair = tuple(gps_finish_times(problem.own_clock.workload, problem.gpus))
    instance = replace(Instance.of(problem), deadline=fair)
    passed = {arrival - time for arrival in instance.arrivals for time in fair}
    steps = [0.0, *sorted(delay for delay in passed if delay > 0)]

    def possible(delay: float) -> bool:
        due = tuple(time + delay for time in fair)
        tried = replace(instance, deadline=due)
        return best_plan(tried, event_order(tried, due), budget=budget) is not None

    place = bisect_left(steps, True, key=possible)
    if budget.passed:
        return None
    within = steps[max(place - 1, 0)]
    following = steps[place] if place < len(steps) else within + 1.0
    order = event_order(instance, [time + (within + following) / 2 for time in fair])
    found = least_delay(instance, order, budget=budget)
    return None if found is None else Fairest(*found)
