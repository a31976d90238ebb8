"""Scheduler: the interface of schedulers of base and flexible workers, with their input and output."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

#: Where workers may go: to machines that are always present, to those that are sometimes on loan, or to any
#: mixture of both.
Pool = Literal["training", "inference", "mixed"]


class WaitingJob(NamedTuple):
    """A waiting job.

    Attributes
    ----------
    job
        Its number.
    release_date
        Its release date in seconds.
    time
        Remaining seconds on its base GPUs in its default mode.
    gpus
        Its base GPUs, which are the fewest GPUs on which it can run.
    elastic
        The job as it would be after its start, without flexible workers; None if it cannot have any.
    """

    job: int
    release_date: Any
    time: Any
    gpus: int
    elastic: "FlexibleJob | None" = None


class FlexibleJob(NamedTuple):
    """A running or just started job that may have flexible workers besides its base workers.

    Attributes
    ----------
    job
        Its number.
    time
        Remaining seconds on its base workers.
    worker_gpus
        GPUs of each worker.
    base, most
        Fewest and most workers.
    extra
        Current number of flexible workers.
    pool
        The pool of its flexible workers.
    speeds
        Speed with base + w workers, at index w, shape (most - base + 1,), or 0 if that number is not allowed.
    """

    job: int
    time: Any
    worker_gpus: int
    base: int
    most: int
    extra: int
    pool: Pool
    speeds: tuple[float, ...]

    @property
    def extras(self) -> tuple[int, ...]:
        """The allowed positive numbers of flexible workers, ascending."""
        return tuple(extra for extra in range(1, len(self.speeds)) if self.speeds[extra] > 0)

    def time_with(self, extra: int) -> Any:
        """Return the remaining seconds with an allowed number of flexible workers."""
        return self.time * type(self.time)(self.speeds[0]) / type(self.time)(self.speeds[extra])


@dataclass(frozen=True)
class SchedulerView:
    """The jobs and GPUs that a scheduler decides on.

    Attributes
    ----------
    now
        The time in seconds.
    waiting
        The waiting jobs, by release date.
    elastic
        The running jobs that may have flexible workers, in the order of their starts.
    idle
        Idle GPUs of the pools ``training`` and ``inference``.
    pending
        Whether any job is waiting.
    room
        By pool, the GPUs of each machine that no base worker holds, without zeros.
    """

    now: Any
    waiting: tuple[WaitingJob, ...]
    elastic: tuple[FlexibleJob, ...]
    idle: Mapping[str, int]
    pending: bool
    room: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@runtime_checkable
class Scheduler(Protocol):
    """Interface of objects that decide which jobs start, and how many flexible workers each job has.

    The policy starts the jobs that fit, and places their workers.
    """

    @property
    def blocks(self) -> bool:
        """Whether a job that does not fit blocks the jobs behind it."""

    def order(self, snapshot: SchedulerView) -> Sequence[int]:
        """Return the waiting jobs that should start, in this order.

        Jobs start if they fit on idle GPUs and on GPUs of flexible workers, which then make way.
        """

    def extras(self, snapshot: SchedulerView) -> Mapping[int, int]:
        """Return the number of flexible workers of each elastic job after the starts. Omitted jobs get none.

        In each pool they use at most the GPUs that are now idle or held by flexible workers.
        """
