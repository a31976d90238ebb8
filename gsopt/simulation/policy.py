"""Policy: the decisions during a simulation, and the state on which they are based."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from gsopt.core.errors import GsoptError
from gsopt.scenario.adaptive.view import TraineeView
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.training import Observation
from gsopt.simulation.placer import Placer

#: GPUs of a decision: how many, or which by number.
Allocation = int | tuple[int, ...]


class Start(NamedTuple):
    """Start or continue a waiting job, on as many GPUs as it demands when `gpus` is None, in a mode.

    In a cluster of racks GPUs may be given by number; GPUs that another job holds are then shared with it.

    Examples
    --------
    >>> Start(3).gpus, Start(3, 2), Start(3, (0, 1), "halves").mode
    (None, Start(job=3, gpus=2, mode=''), 'halves')
    """

    job: int
    gpus: Allocation | None = None
    mode: str = ""


class Stop(NamedTuple):
    """Preempt a running job; it keeps its progress if it has checkpoints, and waits.

    Examples
    --------
    >>> Stop(3)
    Stop(job=3)
    """

    job: int


class Resize(NamedTuple):
    """Move a running job to another number of GPUs, other GPUs by number, or another mode; None keeps it.

    Examples
    --------
    >>> Resize(3, 4), Resize(3, None, "halves").mode
    (Resize(job=3, gpus=4, mode=None), 'halves')
    """

    job: int
    gpus: Allocation
    mode: str | None = None


class Move(NamedTuple):
    """Move a running job to as many other GPUs, given by number.

    Examples
    --------
    >>> Move(3, (4, 5))
    Move(job=3, gpus=(4, 5))
    """

    job: int
    gpus: tuple[int, ...]


class Assign(NamedTuple):
    """Let exactly these jobs run from now on: GPUs of each, or a pair of GPUs and mode.

    Running jobs whose number of GPUs and mode stay the same stay where they are, unless other GPUs are named;
    all other running jobs free theirs before GPUs are chosen for numbers.

    Examples
    --------
    >>> Assign({3: 2, 5: (1, "halves")}).jobs[3]
    2
    """

    jobs: Mapping[int, Allocation | tuple[Allocation, str]]


class Vacate(NamedTuple):
    """Vacate machines, by name, to answer open requests; jobs on them are evicted at once.

    Each answers the request of the earliest deadline that may take it. The jobs stand among `State.evicted`
    from then on in the same decision, and are not reported again. In a plain cluster, whose GPUs have no names,
    there is nothing to say: those that are free at the deadline are given up first.

    Examples
    --------
    >>> Vacate(["machine 0.1"])
    Vacate(servers=['machine 0.1'])
    """

    servers: Sequence[str]


class Wake(NamedTuple):
    """Ask for a decision at this time, in seconds on the clock of `State.now`, unless something happens before.

    Examples
    --------
    >>> Wake(3600)
    Wake(time=3600)
    """

    time: Any


Action = Start | Stop | Resize | Move | Assign | Vacate | Wake


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
    Start(job=3, gpus=None, mode=''): a job starts after its release
    """

    def __init__(self, action: object, rule: str) -> None:
        self.action, self.rule = action, rule
        super().__init__(f"{action}: {rule}")

    def __reduce__(self) -> tuple[type["IllegalDecision"], tuple[object, str]]:
        return type(self), (self.action, self.rule)


class NotReleased(GsoptError, LookupError):
    """A policy looked at a job that has not been released yet.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> def clairvoyant(state):
    ...     return state.jobs[0]
    >>> try:
    ...     simulate(Workload(jobs=[Job(name="a", release_date=5, duration=2, gpus=1)]), clairvoyant, cluster=1)
    ... except NotReleased as error:
    ...     print(error)
    job 0 is not released yet, or is none of the workload's
    """


class Request(NamedTuple):
    """An open request to give up machines, or GPUs of a plain cluster.

    Attributes
    ----------
    deadline
        When the engine takes what is still owed.
    servers
        Number of machines that are still owed; 0 in a plain cluster.
    gpus
        Number of GPUs that are owed; 0 in a cluster of racks.
    among
        Names of the machines that may be given up for it; any when empty.
    gpu_type
        The type of the machines that may be given up for it; any when empty.

    Examples
    --------
    >>> Request(deadline=3600, servers=2, gpus=0, among=()).servers
    2
    """

    deadline: Any
    servers: int
    gpus: int
    among: tuple[str, ...]
    gpu_type: str = ""


class State(Protocol):
    """What a policy sees: the truth at this instant and nothing of the future; it is read-only.

    Jobs are numbered from 0 in the order of their release dates. Times are in seconds, and all of them, release
    dates and deadlines of jobs too, count from where the clock of the scenario begins: from the first release
    date, unless it says otherwise (`gsopt.scenario.scenario.Physics.clock_start`).

    While actions are yielded one by one, the state shows the current plan; its changes take effect at the end.
    """

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs by number; as long as the workload, but jobs that are not released raise NotReleased."""

    @property
    def now(self) -> Any:
        """The time."""

    @property
    def cluster(self) -> Cluster:
        """The whole cluster, with the GPUs that are away."""

    @property
    def servers(self) -> tuple[str, ...]:
        """Names of the machines that are there; empty in a plain cluster."""

    @property
    def capacity(self) -> int:
        """Number of GPUs that are there."""

    @property
    def share_limit(self) -> int:
        """Number of jobs that may hold one GPU at the same time."""

    @property
    def free(self) -> int:
        """Number of GPUs that no job holds; negative while a plan takes more than there are."""

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
    def requests(self) -> tuple[Request, ...]:
        """The open requests to give up machines or GPUs, the earliest deadline first."""

    @property
    def running(self) -> Mapping[int, int]:
        """The running jobs in the order of their starts, each with its number of GPUs."""

    def remaining(self, job: int) -> Any:
        """Return the work that is left, in seconds alone on the demanded GPUs."""

    def ready(self, job: int) -> Any:
        """Return from when a job progresses, as it ran before this decision: now or the end of its overhead."""

    def samples(self, job: int) -> Any:
        """Return the samples that the job has processed, those of lost work included; 0 without a training."""

    def observed(self, job: int) -> Observation | None:
        """Return the observation of the job's training at this instant; None without a training."""

    def trainee(self, job: int) -> TraineeView | None:
        """Return the view of an adaptive job, with its knowledge and the truth; None for any other job."""

    def service(self, job: int) -> Any:
        """Return the GPU-seconds that the job has held so far."""

    def mode(self, job: int) -> str:
        """Return the mode of a running job."""

    def placement(self, job: int) -> tuple[int, ...]:
        """Return the GPUs of a running job by number; empty in a plain cluster or before they are chosen."""

    def users(self, gpu: int) -> tuple[int, ...]:
        """Return the jobs that hold a GPU of a cluster of racks."""

    def memory(self, gpu: int) -> int | None:
        """Return the free bytes of a GPU in a cluster of racks; None when memory is unlimited."""

    def free_gpus(self, kind: str = "") -> tuple[int, ...]:
        """Return the free GPUs of a cluster of racks by number, of one type or of any."""

    def fits(self, job: int) -> bool:
        """Check whether the demanded GPUs of a job are free, of its type and with its memory."""

    def offer(self, job: int, placer: Placer | None = None) -> tuple[int, ...] | None:
        """Return the free GPUs, by number, that a placer (the run's when None) would choose for a job's demand.

        Among equally close GPUs, those with the least sufficient memory are chosen. None if too few are free;
        empty in a plain cluster, whose GPUs have no numbers.
        """

    def tier(self, gpus: Sequence[int]) -> str:
        """Return the network tier that joins GPUs, the name of a level of the cluster."""

    def rate(
        self, job: int, gpus: Allocation, mode: str = "", beside: Sequence[int] = (), *, tier: str | None = None
    ) -> Any:
        """Return the speed that a job would have now on GPUs, in a mode, beside the jobs that share them.

        A number of GPUs means GPUs on one machine, or GPUs joined by a tier, of the fastest type on which the
        job may run in that mode.
        """


class Decider(Protocol):
    """Makes the decisions of one run; a policy creates one for every run.

    Attributes
    ----------
    preemptive
        Whether it may stop jobs; the simulator enforces this.
    """

    preemptive: bool

    def decide(self, state: State) -> Iterable[Action]:
        """Decide at an instant at which something happened.

        The actions are applied in their order, and only their result takes effect, at once. A generator sees
        the plan after each action that it has yielded. A run in which neither the clock nor any job advances is
        given up, see `gsopt.simulation.guard`.
        """


#: A policy: called with the state at the beginning and its own keyword options, it makes a decider.
Policy = Callable[..., Decider]
