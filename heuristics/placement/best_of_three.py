"""Best of three: best-fit decreasing in three orders."""

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.placement import Placement, PlacementSolution
from heuristics.placement.filling import fill
from heuristics.placement.scores import tightest
from heuristics.placement.sizes import gpus, largest_first, largest_share, total_share


@heuristic
def best_of_three(problem: Placement, *, budget: Budget = UNLIMITED) -> PlacementSolution | NoSolution:
    """Run best-fit decreasing by GPUs, by the sum of shares and by their maximum, and keep the best result.

    No order is always best: one order may place all workers when another does not.

    Complexity: three times that of best-fit decreasing.

    Source: these orders are common in vector bin packing. The paper uses only the first one.

    Examples
    --------
    >>> import gsopt
    >>> best_of_three(gsopt.load("placement/small/six-items")).objective
    3
    """
    found = [
        fill(problem, largest_first(size(problem)), tightest, budget=budget)
        for size in (gpus, total_share, largest_share)
    ]
    solutions = [placement for placement in found if isinstance(placement, PlacementSolution)]
    return min(solutions, key=problem.objective, default=found[0])
