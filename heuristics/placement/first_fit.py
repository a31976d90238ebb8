"""First fit: a heuristic that places each worker on the first server with room."""

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.placement import Placement, PlacementSolution
from heuristics.placement.filling import fill
from heuristics.placement.scores import first
from heuristics.placement.sizes import gpus, largest_first


@heuristic
def first_fit(
    problem: Placement, *, decreasing: bool = False, budget: Budget = UNLIMITED
) -> PlacementSolution | NoSolution:
    """Place workers in the order given by the problem, each on the first server with room.

    Servers are tried in the order of the problem. `best_fit_decreasing` says in which cases preferred servers
    are tried before others, and in which cases jobs are placed as a whole.

    Complexity: O(workers * servers).

    Source: Johnson, "Near-optimal bin packing algorithms" (1973).

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit.
    decreasing
        Whether to place workers in descending order of their number of GPUs instead.

    Raises
    ------
    Unsupported
        The objective is ``"preferences"``, and workers accept only certain GPU types.

    Examples
    --------
    >>> import gsopt
    >>> first_fit(gsopt.load("placement/small/six-items")).objective
    3
    """
    order = largest_first(gpus(problem)) if decreasing else range(len(problem.workers))
    return fill(problem, order, first, budget=budget)
