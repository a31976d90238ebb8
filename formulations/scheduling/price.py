"""Price of fairness: how much later jobs complete on average because none may be served unfairly."""

from dataclasses import dataclass

from formulations.scheduling.exact import exact
from formulations.scheduling.fairness import smallest_fairness
from gsopt.core.errors import Unsupported
from gsopt.core.result import Result
from gsopt.problems.scheduling import Scheduling, SchedulingSolution


@dataclass(frozen=True)
class Price:
    """The optimum with and without fairness.

    Attributes
    ----------
    fairness
        The constant of fairness, in seconds.
    fair, free
        Results with and without it.
    """

    fairness: float
    fair: Result[SchedulingSolution]
    free: Result[SchedulingSolution]

    @property
    def relative(self) -> float | None:
        """Increase of the mean job completion time, relative to that without fairness; None if not found."""
        if self.fair.objective is None or self.free.objective is None:
            return None
        return float(self.fair.objective) / float(self.free.objective) - 1


def price_of_fairness(problem: Scheduling, *, slack: float = 0.1, time_limit: float | None = None) -> Price:
    """Solve a problem with and without its fairness.

    Parameters
    ----------
    problem
        The problem. Without a fairness of its own it is given the smallest possible one and some slack.
    slack
        Part of the smallest possible fairness that is added to it.
    time_limit
        Seconds for each of the two solves; None for none.

    Raises
    ------
    Unsupported
        No schedule keeps the problem's fairness, or jobs must not be preempted.
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
