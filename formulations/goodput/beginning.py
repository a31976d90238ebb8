"""Beginning: the current allocation and a bound that is cheap to compute."""

from formulations.common.best import Best
from formulations.goodput.case import GoodputCase
from formulations.goodput.packing import pack
from gsopt.problems.goodput import Goodput, GoodputSolution


def current_gpus(case: GoodputCase) -> GoodputSolution:
    """Return the current allocation. Jobs that cannot keep their GPUs get none."""
    wanted = [next((each for each in options if each.keeps), options[0]) for options in case.options]
    return case.solution(pack(case, wanted).vectors)


def bound_alone(case: GoodputCase) -> float:
    """Return a lower bound: the mean cost if each job had its cheapest option, ignoring contention."""
    return mean(case, sum(min(option.cost for option in options) for options in case.options))


def mean(case: GoodputCase, total: float) -> float:
    """Convert a lower bound on the total cost of all jobs, in double precision, to one on the objective."""
    return total * (1 - case.error) / max(len(case.options), 1)


def begin(case: GoodputCase, best: Best[Goodput, GoodputSolution]) -> None:
    """Record the current allocation as the first solution, and a bound that ignores contention."""
    best.take(current_gpus(case))
    best.raise_bound(bound_alone(case))
