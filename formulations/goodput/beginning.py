"""Beginning: what jobs have now, and a bound that costs next to nothing."""

from formulations.common.best import Best
from formulations.goodput.case import Case
from formulations.goodput.packing import pack
from gsopt.problems.goodput import Goodput, GoodputSolution


def kept(case: Case) -> GoodputSolution:
    """Return what jobs have now, as far as they may keep it.

    Examples
    --------
    >>> from gsopt.problems.goodput import GoodputJob
    >>> a = GoodputJob(name="a", speedups=[[1.0], [2.0]], current=[1, 1])
    >>> case = Case.of(Goodput(nodes=[2, 2], jobs=[a, a.model_copy(update={"name": "b"})]))
    >>> kept(case).gpus
    {'a': (1, 1)}
    """
    wanted = [next((each for each in options if each.keeps), options[0]) for options in case.options]
    return case.solution(pack(case, wanted).vectors)


def alone(case: Case) -> float:
    """Return a bound on the objective: the mean of what jobs count if each has what is best for it alone.

    Examples
    --------
    >>> alone(Case.of(Goodput(nodes=[2], jobs=[])))
    0.0
    """
    return mean(case, sum(min(option.cost for option in options) for options in case.options))


def mean(case: Case, total: float) -> float:
    """Return a bound on the objective by one on the total of all jobs in doubles."""
    return total * (1 - case.error) / max(len(case.options), 1)


def begin(case: Case, best: Best[Goodput, GoodputSolution]) -> None:
    """Take over both."""
    best.take(kept(case))
    best.raise_bound(alone(case))
