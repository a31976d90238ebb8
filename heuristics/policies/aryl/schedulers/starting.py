"""Starting: the orders in which waiting jobs start on their base workers."""

from typing import Any, Literal, get_args

from gsopt.core.errors import require_one_of
from heuristics.policies.aryl.epoch import Epoch, Waiting

#: By release date, by the seconds that they need on their base GPUs, or by those times the GPUs.
Order = Literal["release", "time", "area"]


def require_order(order: object) -> None:
    """Refuse what is no order.

    Raises
    ------
    InvalidInput
        It is none.

    Examples
    --------
    >>> require_order("time")
    """
    require_one_of("order", order, get_args(Order))


def in_order(epoch: Epoch, order: Order) -> list[Waiting]:
    """Return the waiting jobs in an order; of equal ones that which was released first goes first.

    Examples
    --------
    >>> jobs = (Waiting(0, release_date=0.0, time=9.0, gpus=1), Waiting(1, release_date=1.0, time=8.0, gpus=2))
    >>> epoch = Epoch(2.0, jobs, elastic=(), idle={}, pending=True)
    >>> [[job.job for job in in_order(epoch, order)] for order in ("release", "time", "area")]
    [[0, 1], [1, 0], [0, 1]]
    """
    if order == "release":
        return list(epoch.waiting)
    return sorted(epoch.waiting, key=_time if order == "time" else _area)


def _time(job: Waiting) -> Any:
    return job.time


def _area(job: Waiting) -> Any:
    return job.time * job.gpus
