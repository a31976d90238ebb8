"""Price of fairness: the increase in the mean job completion time due to a fairness constraint."""

from dataclasses import dataclass

from formulations.scheduling.exact import exact
from formulations.scheduling.fairness import smallest_fairness
from gsopt.core.errors import Unsupported
from gsopt.core.result import Result
from gsopt.problems.scheduling import Scheduling, SchedulingSolution


@dataclass(frozen=True)
class Price:
    """The results for a problem with and without a fairness constraint.

    Attributes
    ----------
    fairness
        The fairness constant, in seconds.
    fair, free
        The results with and without the fairness constraint.
    """

    fairness: float
    fair: Result[SchedulingSolution]
    free: Result[SchedulingSolution]

    @property
    def relative(self) -> float | None:
        """The relative increase in mean job completion time due to fairness; None if a solution is missing."""
        if self.fair.objective is None or self.free.objective is None:
            return None
        return float(self.fair.objective) / float(self.free.objective) - 1


def price_of_fairness(problem: Scheduling, *, slack: float = 0.1, time_limit: float | None = None) -> Price:
    """Solve a problem with and without its fairness constraint.

    Parameters
    ----------
    problem
        The problem. If it has no fairness constant, the smallest possible one plus some slack is used.
    slack
        Fraction of the smallest possible fairness constant that is added to it.
    time_limit
        Time limit in seconds, for the smallest constant and for each of the two results; None for no limit.

    Raises
    ------
    Unsupported
        No schedule satisfies the fairness constraint, none was found in time, or preemption is not allowed.
    TimeoutError
        The problem has no fairness constant, and `smallest_fairness` did not find the smallest one.
    """
    fairness = problem.fairness
    if fairness is None:
        fairness = smallest_fairness(problem, time_limit=time_limit) * (1 + slack)
    fair = exact(_with_fairness(problem, fairness), time_limit=time_limit)
    if fair.solution is None:
        raise Unsupported(f"price of fairness: {fair.message}")
    return Price(fairness, fair, exact(_with_fairness(problem, None), time_limit=time_limit))


def _with_fairness(problem: Scheduling, fairness: float | None) -> Scheduling:
    return problem.model_copy(update={"fairness": fairness})
