"""Best of three: the best result of best-fit decreasing in three different orders."""

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import TimeUp
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.placement import Placement, PlacementSolution
from heuristics.placement.filling import fill
from heuristics.placement.scores import tightest
from heuristics.placement.sizes import gpus, largest_first, largest_share, total_share


@heuristic
def best_of_three(problem: Placement, *, budget: Budget = UNLIMITED) -> PlacementSolution | NoSolution:
    """Run best-fit decreasing by GPUs, by the sum and by the maximum of shares, and keep the best result.

    A share is the amount of a resource that a worker needs, divided by the largest amount on any server. A
    part of a GPU counts as a fraction. No order is always best. One order may even place all workers when
    another does not.

    Complexity: three times that of best-fit decreasing.

    Source: these orders are common in vector bin packing. Aryl uses only the first one.

    Raises
    ------
    Unsupported
        The objective is ``"preferences"``, and workers accept only certain GPU types.

    Examples
    --------
    >>> import gsopt
    >>> best_of_three(gsopt.load("placement/small/six-items")).objective
    3
    """
    found: list[PlacementSolution | NoSolution] = []
    for size in (gpus, total_share, largest_share):
        try:
            found.append(fill(problem, largest_first(size(problem)), tightest, budget=budget))
        except TimeUp:
            if not found:
                raise
            break
    solutions = [placement for placement in found if isinstance(placement, PlacementSolution)]
    return min(solutions, key=problem.objective, default=found[0])
