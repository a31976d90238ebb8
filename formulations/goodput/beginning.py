"""Beginning: what jobs have now, and a bound that costs next to nothing."""

from formulations.common.best import Best
from formulations.goodput.case import GoodputCase
from formulations.goodput.packing import pack
from gsopt.problems.goodput import Goodput, GoodputSolution


def current_gpus(case: GoodputCase) -> GoodputSolution:
    """Return what jobs have now, as far as they may keep it."""
    wanted = [next((each for each in options if each.keeps), options[0]) for options in case.options]
    return case.solution(pack(case, wanted).vectors)


def bound_alone(case: GoodputCase) -> float:
    """Return a bound on the objective: the mean of what jobs count if each has what is best for it alone."""
    return mean(case, sum(min(option.cost for option in options) for options in case.options))


def mean(case: GoodputCase, total: float) -> float:
    """Return a bound on the objective by one on the total of all jobs in doubles."""
    return total * (1 - case.error) / max(len(case.options), 1)


def begin(case: GoodputCase, best: Best[Goodput, GoodputSolution]) -> None:
    """Take over what jobs have now, and the bound of all jobs alone."""
    best.take(current_gpus(case))
    best.raise_bound(bound_alone(case))
