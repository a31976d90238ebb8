"""Worst fit: a heuristic that places each worker on the server with the most free GPUs."""

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.placement import Placement, PlacementSolution
from heuristics.placement.filling import fill
from heuristics.placement.scores import roomiest, roomiest_in_use


@heuristic
def worst_fit(
    problem: Placement, *, spread: bool = True, budget: Budget = UNLIMITED
) -> PlacementSolution | NoSolution:
    """Place workers in the order given by the problem, each on the server with the most free GPUs.

    `best_fit_decreasing` says in which cases preferred servers come before others, and in which cases jobs are
    placed as a whole.

    Complexity: O(workers * servers).

    Source: Johnson, "Near-optimal bin packing algorithms" (1973), who opens a new bin only if no bin in use
    has room (``spread=False``). Schedulers that balance load treat empty servers like all others.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit.
    spread
        Whether to treat empty servers like all others. Otherwise, they are used only if no server in use has
        room.

    Raises
    ------
    Unsupported
        The objective is ``"preferences"``, and workers accept only certain GPU types.

    Examples
    --------
    >>> import gsopt
    >>> problem = gsopt.load("placement/small/six-items")
    >>> worst_fit(problem).objective, worst_fit(problem, spread=False).objective
    (4, 3)
    """
    score = roomiest if spread else roomiest_in_use
    return fill(problem, range(len(problem.workers)), score, one_by_one=True, budget=budget)
