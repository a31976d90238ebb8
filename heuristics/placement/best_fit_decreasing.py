"""Best-fit decreasing: the placement heuristic of Aryl."""

from typing import Literal

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import require_one_of
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.placement import Placement, PlacementSolution
from heuristics.placement.filling import Score, fill
from heuristics.placement.scores import tightest, tightest_or_largest
from heuristics.placement.sizes import Size, gpus, largest_first, largest_share, total_share

#: Sizes by which workers can be sorted, keyed by name.
ORDERS: dict[str, Size] = {"gpu": gpus, "sum": total_share, "max": largest_share}

#: Scores of servers, keyed by the name of the rule for opening an empty server.
OPENS: dict[str, Score] = {"tightest": tightest, "largest": tightest_or_largest}


@heuristic
def best_fit_decreasing(
    problem: Placement,
    *,
    order: Literal["gpu", "sum", "max"] = "gpu",
    opens: Literal["tightest", "largest"] = "tightest",
    budget: Budget = UNLIMITED,
) -> PlacementSolution | NoSolution:
    """Place the largest workers first, each on the server in use that it fits most tightly.

    The lines, i.e. the entries of `Placement.workers`, are sorted by the size of one worker, largest first.
    Among equally preferred servers with room, a worker goes to the one in use with the fewest free GPUs. If
    none is in use, an empty one is opened. Ties go to the first line, and to the first server.

    If the objective is ``"preferences"``, elastic jobs prefer inference servers, and inelastic jobs training
    servers. Base and flexible workers share an inference server only if they fit nowhere else.

    If jobs must not be split between pools, they are placed as a whole, in descending order of their largest
    workers. Each job goes to its preferred pool if it fits there, whatever is minimized, and even if base and
    flexible workers then share servers. However, if workers need parts of GPUs or certain GPU types, or may
    stay unplaced, they are placed one by one, and the first worker of a job determines its pool.

    Complexity: O(workers * servers).

    Source: Aryl, section 5.3. The paper leaves open how ties are broken, which empty server is opened, and what
    happens when the preferred pool is full. Here, workers then use the other pool.

    Parameters
    ----------
    problem
        The problem.
    order
        A worker's size: its number of GPUs, as in the paper (``gpu``), or the ``sum`` or the ``max`` of its
        needs, each as a share of the largest amount of that resource on any server. A part of a GPU counts
        as a fraction.
    opens
        Which empty server with room is opened: the one with the fewest free GPUs (``tightest``), or with the
        most (``largest``). The latter may use far fewer servers if their sizes differ.
    budget
        Time limit.

    Raises
    ------
    InvalidInput
        `order` or `opens` is unknown.
    Unsupported
        The objective is ``"preferences"``, and workers accept only certain GPU types.

    Examples
    --------
    >>> import gsopt
    >>> best_fit_decreasing(gsopt.load("placement/small/six-items")).objective
    3
    """
    require_one_of("order", order, ORDERS)
    require_one_of("opens", opens, OPENS)
    return fill(problem, largest_first(ORDERS[order](problem)), OPENS[opens], budget=budget)
