"""Policy: what decides during a simulation, what it is shown, and what it may decide."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from gsopt.errors import GsoptError
from gsopt.job import Job

#: GPUs of a decision: how many, or which by number.
Allocation = int | tuple[int, ...]


class Start(NamedTuple):
    """Start or continue a waiting job, on as many GPUs as it demands when `gpus` is None.

    In a cluster of racks GPUs may be given by number; GPUs that another job holds are then shared with it.
    """

    job: int
    gpus: Allocation | None = None


class Stop(NamedTuple):
    """Preempt a running job; it keeps its progress and waits."""

    job: int


class Resize(NamedTuple):
    """Give a running job another number of GPUs, or other GPUs by number."""

    job: int
    gpus: Allocation


class Move(NamedTuple):
    """Move a running job to as many other GPUs, given by number."""

    job: int
    gpus: tuple[int, ...]


class Wake(NamedTuple):
    """Ask for a decision at this time, in seconds, unless something happens before it."""

    time: Any


Action = Start | Stop | Resize | Move | Wake


class IllegalDecision(GsoptError):
    """A policy decided what the rules forbid.

    Attributes
    ----------
    action
        The decision.
    rule
        The rule that it breaks.

    Examples
    --------
    >>> print(IllegalDecision(Start(3), "a job starts after its release"))
    Start(job=3, gpus=None): a job starts after its release
    """

    def __init__(self, action: object, rule: str) -> None:
        self.action, self.rule = action, rule
        super().__init__(f"{action}: {rule}")

    def __reduce__(self) -> tuple[type["IllegalDecision"], tuple[object, str]]:
        return type(self), (self.action, self.rule)


class State(Protocol):
    """What a policy sees: the truth at this instant, to read only.

    Jobs are numbered from 0 in the order of their release dates. Times are in seconds.
    """

    @property
    def jobs(self) -> Sequence[Job]:
        """Every job of the workload by number; a policy that looks ahead of `now` in it cheats."""

    @property
    def now(self) -> Any:
        """The time."""

    @property
    def cluster(self) -> Any:
        """The cluster."""

    @property
    def capacity(self) -> int:
        """Number of GPUs that are there."""

    @property
    def free(self) -> int:
        """Number of GPUs that no job holds; up to date while decisions are yielded one by one."""

    @property
    def arrived(self) -> tuple[int, ...]:
        """Jobs released since the last decision."""

    @property
    def completed(self) -> tuple[int, ...]:
        """Jobs completed since the last decision."""

    @property
    def evicted(self) -> tuple[int, ...]:
        """Jobs stopped since the last decision because their GPUs went away; they wait again."""

    @property
    def running(self) -> Mapping[int, int]:
        """The running jobs in the order of their starts, each with its number of GPUs."""

    def remaining(self, job: int) -> Any:
        """Give the work that is left, in seconds alone on the demanded GPUs."""

    def service(self, job: int) -> Any:
        """Give the GPU-seconds that the job has held so far."""

    def placement(self, job: int) -> tuple[int, ...]:
        """Give the GPUs that a running job holds, by number; empty in a plain cluster."""

    def users(self, gpu: int) -> tuple[int, ...]:
        """Give the jobs that hold a GPU of a cluster of racks."""

    def free_gpus(self) -> tuple[int, ...]:
        """Give the free GPUs of a cluster of racks by number."""

    def fits(self, job: int) -> bool:
        """Tell whether the demanded GPUs of a job are free."""


class Decider(Protocol):
    """Decides during one run; made afresh by a policy for every run.

    Attributes
    ----------
    preemptive
        Whether it may stop jobs; the simulator holds it to that.
    """

    preemptive: bool

    def decide(self, state: State) -> Iterable[Action]:
        """Decide at an instant at which something happened.

        A generator sees the effect of each decision that it has yielded; a list is carried out in its order.
        """


#: A policy: called with the state at the beginning and its own keyword options, it makes a decider.
Policy = Callable[..., Decider]
