"""Water filling: the next to worst level is raised too, and so on, until no job can have more."""

from collections.abc import Sequence
from fractions import Fraction

from formulations.shares.best import BestShares
from formulations.shares.exact import solve
from formulations.shares.linear import MOST, meet
from formulations.shares.needs import needs
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.numbers.grid import Exact, decimal
from gsopt.core.numbers.tolerances import LEAST_TOLERANCE, SHARE_VALUE
from gsopt.core.result import Result, StoppedBy, settles
from gsopt.problems.shares import Shares, TimeShares


@exact_method(unused=["backend"])
def water_filling(problem: Shares, budget: Budget) -> Result[TimeShares]:
    """Raise the level of all jobs that can still have more, until none can: max-min fairness in all levels.

    `exact` only settles the worst level and may leave GPUs idle. Here the jobs that hold it down keep their
    throughput and the others go on, with a linear program for each level that is met. Whom a level is held down
    by is told by the prices: a job whose throughput has a price cannot have more while no other has less. The
    value, that of the worst level, is the same, and so is its proof.

    Complexity: at most as many linear programs as jobs; a job at least is settled in each.

    Source
    ------
    Gavel, section 4.3, which finds those jobs by an integer program. The default policy of its code stops at
    the worst level, as `exact` does.

    Parameters
    ----------
    problem
        The problem, of `max_min`.
    budget
        Time limit, gap, start, callback and log. With a start, or out of time, not every level need be raised.

    Raises
    ------
    Unsupported
        The criterion is another.

    Examples
    --------
    >>> from gsopt.problems.shares import TypedJob
    >>> sizes = {"small": 1, "large": 2}
    >>> jobs = [TypedJob(name=name, gpus=size, throughputs={"v100": 4.0}) for name, size in sizes.items()]
    >>> problem = Shares(gpus={"v100": 4}, jobs=jobs)
    >>> [round(float(level), 6) for level in problem.levels(water_filling(problem).solution)]
    [1.0, 2.0]
    """
    if problem.criterion != "max_min":
        raise Unsupported(f"water_filling raises the levels of max_min, the criterion is {problem.criterion}")
    best = BestShares(problem, budget, "water_filling")
    solve(best)
    filled = fill(best)
    if filled is not None and _is_as_good(best, filled):
        best.solution = filled
    return best.result(best.finished or StoppedBy.FINISHED, solver="highs")


def _is_as_good(best: BestShares, filled: TimeShares) -> bool:
    """Check whether the worst level is as high as it was, or as high as it can be."""
    value = best.problem.objective(filled)
    return value >= best.known_value or settles(value, best.bound, best.problem.resolution(value))


def fill(best: BestShares) -> TimeShares | None:
    """Return the shares in which no level can be raised; None out of time."""
    problem, level = best.problem, Fraction(best.known_value)
    kept: dict[int, Exact] = {}
    found = None
    while len(kept) < len(problem.jobs) and not best.budget.passed:
        wanted = [kept.get(place, need) for place, need in enumerate(needs(problem, level))]
        answer = meet(problem, wanted, best.budget, settled=kept)
        if answer is None:
            break
        found = problem.fitted(answer.shares)
        level *= decimal(answer.factor)
        held = _held(answer.jobs, wanted, kept) if answer.factor < MOST else []
        met = needs(problem, level * (1 - decimal(2 * LEAST_TOLERANCE)))
        kept |= {place: met[place] for place in held}
    return found


def _held(prices: Sequence[Exact], wanted: Sequence[Exact], kept: dict[int, Exact]) -> list[int]:
    """Return the jobs that hold the level down: those whose needs have a price."""
    costs = {
        place: float(price * need)
        for place, (price, need) in enumerate(zip(prices, wanted, strict=True))
        if place not in kept
    }
    largest = max(costs.values())
    return [place for place, cost in costs.items() if cost >= largest * SHARE_VALUE]
