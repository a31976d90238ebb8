"""Scheduler: the interface, input and output of schedulers for base and flexible workers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

#: Where workers may go: machines that are always available, machines that are sometimes on loan, or both mixed.
Pool = Literal["training", "inference", "mixed"]


class WaitingJob(NamedTuple):
    """A waiting job, as a scheduler sees it.

    Attributes
    ----------
    job
        Its number.
    release_date
        Its release date, in seconds.
    time
        Remaining seconds in its default mode, on the fewest GPUs that this mode allows.
    gpus
        Number of GPUs of its base workers.
    elastic
        The job as it would be just after its start; None if it cannot have flexible workers.
    """

    job: int
    release_date: Any
    time: Any
    gpus: int
    elastic: "FlexibleJob | None" = None


class FlexibleJob(NamedTuple):
    """A running or just started job that may have flexible workers in addition to its base workers.

    Attributes
    ----------
    job
        Its number.
    time
        Remaining seconds on its base workers.
    worker_gpus
        GPUs of each worker.
    base, most
        Smallest and largest number of workers.
    extra
        Current number of flexible workers.
    pool
        The pool for its flexible workers.
    speeds
        Speed with base + w workers at index w, shape (most - base + 1,); 0 if that number is not allowed.
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
        """The allowed positive numbers of flexible workers, in ascending order."""
        return tuple(extra for extra in range(1, len(self.speeds)) if self.speeds[extra] > 0)

    def time_with(self, extra: int) -> Any:
        """Return the remaining seconds with an allowed number of flexible workers."""
        return self.time * type(self.time)(self.speeds[0]) / type(self.time)(self.speeds[extra])


@dataclass(frozen=True)
class SchedulerView:
    """The jobs and GPUs that a scheduler considers.

    Attributes
    ----------
    now
        The current time, in seconds.
    waiting
        The waiting jobs, in ascending order of release date.
    elastic
        The running jobs that may have flexible workers, in the order of their starts.
    idle
        Number of idle GPUs in each of the pools ``training`` and ``inference``.
    pending
        Whether any job is waiting.
    room
        For each pool, the number of GPUs on each machine that are not held by base workers; machines without
        such GPUs are omitted.
    """

    now: Any
    waiting: tuple[WaitingJob, ...]
    elastic: tuple[FlexibleJob, ...]
    idle: Mapping[str, int]
    pending: bool
    room: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@runtime_checkable
class Scheduler(Protocol):
    """An interface for objects that decide which jobs start, and how many flexible workers each job has.

    The policy starts the jobs that fit, and places their workers.
    """

    @property
    def blocks(self) -> bool:
        """Whether a job that does not fit blocks the jobs behind it."""

    def order(self, snapshot: SchedulerView) -> Sequence[int]:
        """Return the waiting jobs that should start, in the order in which to start them.

        A job starts if its base workers fit on GPUs that are idle or held by flexible workers and, with
        `blocks`, if all jobs before it have started. Flexible workers that it displaces are removed.
        """

    def extras(self, snapshot: SchedulerView) -> Mapping[int, int]:
        """Return how many flexible workers each elastic job has after the starts; omitted jobs have none.

        In each pool, flexible workers may use the GPUs that are now idle or held by flexible workers.
        """
