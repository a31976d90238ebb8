"""Starting: the orders in which waiting jobs start on their base workers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from gsopt.core.errors import require_one_of
from heuristics.policies.aryl.scheduler import SchedulerView, WaitingJob

#: The sort key: the release date, the time on the base GPUs, or this time multiplied by the number of base
#: GPUs.
Order = Literal["release", "time", "area"]


def in_order(snapshot: SchedulerView, order: Order) -> list[WaitingJob]:
    """Return the waiting jobs sorted by `order`. Ties go to the job released first."""
    if order == "release":
        return list(snapshot.waiting)
    return sorted(snapshot.waiting, key=lambda job: job.time if order == "time" else job.time * job.gpus)


@dataclass(frozen=True)
class InOrder:
    """A base class for schedulers that start jobs in order of release date, remaining time or GPU time."""

    blocks: bool
    sequence: Order = "release"

    def __post_init__(self) -> None:
        require_one_of("order", self.sequence, get_args(Order))

    def order(self, snapshot: SchedulerView) -> Sequence[int]:
        """Return the waiting jobs in the order `sequence`."""
        return [job.job for job in in_order(snapshot, self.sequence)]
