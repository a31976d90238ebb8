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

    The lines, i.e. the entries of `Placement.workers`, are sorted in descending order of the size of one worker
    (by default, its number of GPUs). A worker goes to the server in use with the fewest free GPUs among those
    with room, or to an empty server if there is none. Elastic jobs prefer inference servers, with base and
    flexible workers on different ones. Inelastic jobs prefer training servers.

    Complexity: O(E S) for S servers and E pairs of a line and a server that it uses.

    Source: Aryl, section 5.3 (described in words, without an algorithm).

    Departures: the paper does not say how ties are broken; here, equal lines keep their order, and ties between
    servers go to the first one. It does not say which "new server" is opened; here, it is the one with the
    fewest free GPUs on which the worker fits or, with ``opens="largest"``, the one with the most. The latter
    may use far fewer servers if their numbers of GPUs differ. Nor does it say what happens when the preferred
    pool is full; here, workers go to the other pool. In the paper, the workers of a job are identical; here, a
    job may have several lines, which are sorted separately if the job may be split.

    Preferences matter if broken preferences are minimized; base and flexible workers then share an inference
    server only if they fit nowhere else. If something else is minimized but jobs must not be split, only the
    preferred pools matter, and not even these if workers may stay unplaced, or need parts of GPUs or certain
    GPU types. In all other cases, there are no preferences.

    Parameters
    ----------
    problem
        The problem.
    order
        Measure of a worker's size: its number of GPUs, as in the paper (``gpu``), or the ``sum`` or the ``max``
        of its needs, each as a share of the largest amount of that resource on any server. The last two do not
        count parts of GPUs.
    opens
        Which empty server is opened: the ``tightest`` fit, or the ``largest``.
    budget
        Time limit.

    Raises
    ------
    InvalidInput
        `order` or `opens` is unknown.
    Unsupported
        Broken preferences are minimized, and workers need parts of GPUs or certain GPU types.

    Examples
    --------
    >>> import gsopt
    >>> best_fit_decreasing(gsopt.load("placement/small/six-items")).objective
    3
    """
    require_one_of("order", order, ORDERS)
    require_one_of("opens", opens, OPENS)
    return fill(problem, largest_first(ORDERS[order](problem)), OPENS[opens], budget=budget)
