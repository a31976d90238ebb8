"""The interface of schedulers of base and flexible workers: what they see, and what they decide."""

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
        Its base GPUs: the least number on which it can run.
    elastic
        The job as it would be after its start, without flexible workers; None if it can have none.
    """

    job: int
    release_date: Any
    time: Any
    gpus: int
    elastic: "FlexibleJob | None" = None


class FlexibleJob(NamedTuple):
    """A running or just started job that may have flexible workers beside its base workers.

    Attributes
    ----------
    job
        Its number.
    time
        Remaining seconds on its base workers.
    worker_gpus
        GPUs of each worker.
    base, most
        Least and largest number of workers.
    extra
        Present number of flexible workers.
    pool
        Where its flexible workers may go.
    speeds
        Speed with base + w workers, at index w, shape (most - base + 1,); 0 if that number is not allowed.
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
    """The jobs and GPUs on which a scheduler decides.

    Attributes
    ----------
    now
        The time.
    waiting
        The waiting jobs, by release date.
    elastic
        The running jobs that may have flexible workers, in the order of their starts.
    idle
        Idle GPUs of the pools ``training`` and ``inference``.
    pending
        Whether any job waits.
    room
        For these pools: the GPUs that no base worker holds, of each machine that has any.
    """

    now: Any
    waiting: tuple[WaitingJob, ...]
    elastic: tuple[FlexibleJob, ...]
    idle: Mapping[str, int]
    pending: bool
    room: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@runtime_checkable
class Scheduler(Protocol):
    """Decides which jobs start on their base workers, and how many flexible workers each has.

    The policy starts the jobs that fit, and places their workers.
    """

    @property
    def blocks(self) -> bool:
        """Whether a job that does not fit blocks those behind it."""

    def order(self, snapshot: SchedulerView) -> Sequence[int]:
        """Return the waiting jobs that should start, in this order.

        Those start that fit on idle GPUs and on GPUs of flexible workers, which then make way.
        """

    def extras(self, snapshot: SchedulerView) -> Mapping[int, int]:
        """Return the number of flexible workers of each elastic job after the starts; 0 for jobs left out.

        In each pool they hold at most the GPUs that are idle or held by flexible workers now.
        """
