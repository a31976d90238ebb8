"""Epoch: what a scheduler of base and flexible workers decides on, and what it decides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

#: Machines by where their workers may go: those that are always there, those that are on loan at times, and
#: both for a job that runs on any mixture.
Pool = Literal["training", "inference", "mixed"]


class Waiting(NamedTuple):
    """A job that waits.

    Attributes
    ----------
    job
        Its number.
    release_date
        When it was released, in seconds.
    time
        Seconds that it still needs on its fewest GPUs in its default mode.
    gpus
        Its base GPUs: the fewest on which it may run.
    elastic
        What it would be if it started now, without flexible workers; None when it can have none.
    """

    job: int
    release_date: Any
    time: Any
    gpus: int
    elastic: "Elastic | None" = None


class Elastic(NamedTuple):
    """A job that runs, or is just started, and may have flexible workers beside its base workers.

    Attributes
    ----------
    job
        Its number.
    time
        Seconds that it still needs on its base workers.
    worker_gpus
        GPUs of each worker.
    base, most
        Fewest and most workers.
    extra
        Flexible workers that it has now.
    pool
        Where its flexible workers may go.
    speeds
        Speed with base + w workers, at w, shape (most - base + 1,); 0 where so many are not allowed.
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
        """Allowed numbers of flexible workers beside none, rising."""
        return tuple(extra for extra in range(1, len(self.speeds)) if self.speeds[extra] > 0)

    def time_with(self, extra: int) -> Any:
        """Return the seconds that it still needs with an allowed number of flexible workers."""
        return self.time * type(self.time)(self.speeds[0]) / type(self.time)(self.speeds[extra])


@dataclass(frozen=True)
class Epoch:
    """What a scheduler sees when it decides.

    Attributes
    ----------
    now
        The time.
    waiting
        The jobs that wait, by release date.
    elastic
        The jobs with base workers that may have flexible ones: all that run, in the order of their starts.
    idle
        Idle GPUs of the pools ``training`` and ``inference``.
    pending
        Whether some job waits.
    room
        Of the same pools: GPUs of each machine that no base worker holds, of those that have any.
    """

    now: Any
    waiting: tuple[Waiting, ...]
    elastic: tuple[Elastic, ...]
    idle: Mapping[str, int]
    pending: bool
    room: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def total_idle(self) -> int:
        """Idle GPUs of all pools."""
        return sum(self.idle.values())


@runtime_checkable
class Scheduler(Protocol):
    """Decides which jobs start on their base workers, and how many flexible workers each has.

    It says who and how many; the frame that asks it starts those that fit, and places their workers.
    """

    @property
    def blocks(self) -> bool:
        """Whether a job that does not fit blocks those behind it."""

    def order(self, epoch: Epoch) -> Sequence[int]:
        """Return the waiting jobs that should start, in this order.

        The frame starts those that fit on idle GPUs and those of flexible workers, which then make way.
        """

    def extras(self, epoch: Epoch) -> Mapping[int, int]:
        """Return the flexible workers of each elastic job, after the starts; none for a job that is not named.

        Per pool they hold at most the idle GPUs and those that flexible workers hold there now.
        """
