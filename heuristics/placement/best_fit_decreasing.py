"""Best-fit decreasing: the placement heuristic of Aryl."""

from typing import Literal

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import require_one_of
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.placement import Placement, PlacementSolution
from heuristics.placement.filling import Score, fill
from heuristics.placement.scores import tightest, tightest_or_largest
from heuristics.placement.sizes import Size, gpus, largest_first, largest_share, total_share

#: The orders by name.
ORDERS: dict[str, Size] = {"gpu": gpus, "sum": total_share, "max": largest_share}

#: The scores of servers, by which empty one is opened.
OPENS: dict[str, Score] = {"tightest": tightest, "largest": tightest_or_largest}


@heuristic
def best_fit_decreasing(
    problem: Placement,
    *,
    order: Literal["gpu", "sum", "max"] = "gpu",
    opens: Literal["tightest", "largest"] = "tightest",
    budget: Budget = UNLIMITED,
) -> PlacementSolution | NoSolution:
    """Place the largest workers first, each on the server in use that it fits best.

    Lines are sorted by the GPUs of a worker, the largest first. A worker goes to the server in use that has
    room and the fewest free GPUs, or else to an empty one. Elastic jobs prefer inference servers, with base and
    flexible workers apart. Inelastic jobs prefer training servers.

    Complexity: O(entries * servers), where a line has one entry for every server that it uses.

    Source: Aryl, section 5.3 (described in words, without an algorithm).

    Departures: the paper does not say how ties are broken. Here lines keep their order, and the first server
    wins. It does not say which "new server" is opened. Here it is one with the fewest GPUs or, optionally, one
    with the most. The latter uses far fewer servers if their numbers of GPUs differ. Nor does it say what
    happens when the preferred pool is full. Here workers go to the other pool, and base and flexible workers
    share a server only if they fit nowhere else. Preferences only matter if violations of them are minimized
    or, for whole jobs, if jobs are not split. Jobs in the paper have one kind of worker. Here each line of a
    job has its own place in the order.

    Parameters
    ----------
    problem
        The problem.
    order
        The size of a worker: its GPUs as in the paper, or the sum or the maximum of its shares of the largest
        server's GPUs, CPU and memory.
    opens
        Which empty server is opened: the one that the worker fits most tightly, or the largest.
    budget
        Time limit.

    Raises
    ------
    InvalidInput
        `order` or `opens` is unknown.

    Examples
    --------
    >>> import gsopt
    >>> best_fit_decreasing(gsopt.load("placement/small/six-items")).objective
    3
    """
    require_one_of("order", order, ORDERS)
    require_one_of("opens", opens, OPENS)
    return fill(problem, largest_first(ORDERS[order](problem)), OPENS[opens], budget=budget)
