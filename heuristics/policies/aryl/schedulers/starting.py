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
    """
    require_one_of("order", order, get_args(Order))


def in_order(epoch: Epoch, order: Order) -> list[Waiting]:
    """Return the waiting jobs in an order; of equal ones that which was released first goes first."""
    if order == "release":
        return list(epoch.waiting)
    return sorted(epoch.waiting, key=_time if order == "time" else _area)


def _time(job: Waiting) -> Any:
    return job.time


def _area(job: Waiting) -> Any:
    return job.time * job.gpus
