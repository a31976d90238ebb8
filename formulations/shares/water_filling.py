"""Water filling: shares that maximize the lowest level, then the next lowest, until no level can be raised."""

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
    """Raise the levels of all jobs until none can be raised further, for max-min fairness at every level.

    The level of a job is its term in the objective (`gsopt.problems.shares.Shares.level`). The lowest level is
    maximized first, as in `exact` and with the same bound. Then, level by level, the bottleneck jobs keep their
    throughput, and a linear program raises the levels of the others. The bottlenecks are the jobs whose
    throughput has a positive price in the previous program.

    Complexity: that of `exact`, and then one linear program per level. There are at most as many levels as
    jobs.

    Source
    ------
    Gavel, section 4.3. The paper finds bottleneck jobs by an integer program; here, prices identify them. The
    default policy in Gavel's code stops at the lowest level, like `exact`.

    Parameters
    ----------
    problem
        The problem, with the criterion `max_min`.
    budget
        Time limit, gap, start, callback and log. A start whose lowest level is maximal may be returned
        unchanged. If time runs out, some levels may be lower than possible.

    Raises
    ------
    Unsupported
        The criterion is not `max_min`.

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
        raise Unsupported(
            f"water_filling raises the levels of max_min, but the criterion is {problem.criterion}"
        )
    best = BestShares(problem, budget, "water_filling")
    solve(best)
    filled = fill(best)
    if filled is not None and _is_as_good(best, filled):
        best.solution = filled
    return best.result(best.finished or StoppedBy.FINISHED, solver="highs")


def _is_as_good(best: BestShares, filled: TimeShares) -> bool:
    """Check whether the lowest level is as high as before, or as high as possible."""
    value = best.problem.objective(filled)
    return value >= best.known_value or settles(value, best.bound, best.problem.resolution(value))


def fill(best: BestShares) -> TimeShares | None:
    """Return shares in which no level can be raised without lowering a level that is no higher.

    If time runs out, the last shares found are returned, or None if there are none.
    """
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
    """Return the bottleneck jobs among those not yet settled: the jobs whose needs have a price."""
    costs = {
        place: float(price * need)
        for place, (price, need) in enumerate(zip(prices, wanted, strict=True))
        if place not in kept
    }
    largest = max(costs.values())
    return [place for place, cost in costs.items() if cost >= largest * SHARE_VALUE]
