"""Policy: the decisions of a policy during a simulation, and the state on which they are based."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from gsopt.core.errors import GsoptError
from gsopt.scenario.adaptive.view import TraineeView
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.training import Observation
from gsopt.simulation.placer import Placer

#: The GPUs of an action: how many, or which ones, by number.
Allocation = int | tuple[int, ...]


class Start(NamedTuple):
    """An action that starts or resumes a waiting job in a mode, by default on as many GPUs as it demands.

    In a cluster of racks, GPUs may be given by number. A GPU that another job holds is then shared with it.

    Examples
    --------
    >>> Start(3).gpus, Start(3, 2), Start(3, (0, 1), "halves").mode
    (None, Start(job=3, gpus=2, mode=''), 'halves')
    """

    job: int
    gpus: Allocation | None = None
    mode: str = ""


class Stop(NamedTuple):
    """An action that preempts a running job, which goes back to the queue.

    The job keeps its progress if it has checkpoints.

    Examples
    --------
    >>> Stop(3)
    Stop(job=3)
    """

    job: int


class Resize(NamedTuple):
    """An action that gives a running job another number of GPUs, other GPUs by number, or another mode.

    If `mode` is None, the mode stays unchanged.

    Examples
    --------
    >>> Resize(3, 4), Resize(3, 4, "halves").mode
    (Resize(job=3, gpus=4, mode=None), 'halves')
    """

    job: int
    gpus: Allocation
    mode: str | None = None


class Move(NamedTuple):
    """An action that moves a running job to the same number of other GPUs, given by number.

    Examples
    --------
    >>> Move(3, (4, 5))
    Move(job=3, gpus=(4, 5))
    """

    job: int
    gpus: tuple[int, ...]


class Assign(NamedTuple):
    """An action that runs exactly these jobs from now on, each with its GPUs or a pair of GPUs and mode.

    A running job with the same number of GPUs and the same mode keeps its GPUs, unless other GPUs are named.
    All other running jobs free their GPUs before GPUs are chosen for jobs that name only a number.

    Examples
    --------
    >>> Assign({3: 2, 5: (1, "halves")}).jobs[3]
    2
    """

    jobs: Mapping[int, Allocation | tuple[Allocation, str]]


class Vacate(NamedTuple):
    """An action that vacates machines, by name, for open requests. Jobs on them are evicted at once.

    Each machine counts towards the request with the earliest deadline among those that may take it. Then
    `State.evicted` contains the evicted jobs, but only until the decision ends. A plain cluster needs no such
    action, since it gives up free GPUs first at the deadline.

    Examples
    --------
    >>> Vacate(["machine 0.1"])
    Vacate(servers=['machine 0.1'])
    """

    servers: Sequence[str]


class Wake(NamedTuple):
    """An action that requests a decision at a time, in seconds on the clock of `State.now`.

    Any earlier decision cancels the request.

    Examples
    --------
    >>> Wake(3600)
    Wake(time=3600)
    """

    time: Any


Action = Start | Stop | Resize | Move | Assign | Vacate | Wake


class IllegalDecision(GsoptError):
    """The error raised when a policy makes a decision that the rules forbid.

    Attributes
    ----------
    action
        The forbidden action.
    rule
        The rule that it breaks.

    Examples
    --------
    >>> print(IllegalDecision(Start(3), "a job must not start before its release"))
    Start(job=3, gpus=None, mode=''): a job must not start before its release
    """

    def __init__(self, action: object, rule: str) -> None:
        self.action, self.rule = action, rule
        super().__init__(f"{action}: {rule}")

    def __reduce__(self) -> tuple[type["IllegalDecision"], tuple[object, str]]:
        return type(self), (self.action, self.rule)


class NotReleased(GsoptError, LookupError):
    """The error raised when a policy reads a job that has not been released yet.

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
    job 0 is not released yet, or is not in the workload
    """


class Request(NamedTuple):
    """An open request to give up machines, or GPUs of a plain cluster.

    Attributes
    ----------
    deadline
        Time in seconds at which the engine takes the machines or GPUs that are still owed.
    servers
        Number of machines that are still owed; 0 in a plain cluster.
    gpus
        Number of GPUs that are still owed; 0 in a cluster of racks.
    among
        Names of the machines that may be given up for the request; any if empty.
    gpu_type
        GPU type of the machines that may be given up for the request; any if empty.

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
    """The current state of a run as a policy sees it: read-only, and without the future.

    Jobs are numbered from 0 in the order of their release dates. Times are in seconds from the origin of the
    scenario's clock, including release dates and deadlines. The origin is the first release date unless
    `gsopt.scenario.scenario.Physics.clock_start` is set.

    After each yielded action the state shows the plan so far; the plan takes effect at the end of the decision.
    """

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs by number. Reading a job that is not released raises `NotReleased`."""

    @property
    def now(self) -> Any:
        """The current time, in seconds."""

    @property
    def cluster(self) -> Cluster:
        """The whole cluster, including GPUs that are away."""

    @property
    def servers(self) -> tuple[str, ...]:
        """The names of the available machines. A plain cluster has none."""

    @property
    def capacity(self) -> int:
        """Number of available GPUs."""

    @property
    def share_limit(self) -> int:
        """Largest number of jobs that may hold one GPU at the same time."""

    @property
    def free(self) -> int:
        """The number of GPUs that no job holds, which is negative while a plan takes too many."""

    @property
    def arrived(self) -> tuple[int, ...]:
        """Jobs released since the last decision."""

    @property
    def completed(self) -> tuple[int, ...]:
        """Jobs completed since the last decision."""

    @property
    def evicted(self) -> tuple[int, ...]:
        """The jobs stopped since the last decision because their GPUs went away. They are waiting again."""

    @property
    def requests(self) -> tuple[Request, ...]:
        """Open requests to give up machines or GPUs, in order of deadline."""

    @property
    def running(self) -> Mapping[int, int]:
        """The running jobs in the order of their starts, each with its number of GPUs."""

    def remaining(self, job: int) -> Any:
        """Return the remaining work of a job, in the seconds that it takes alone on its demanded GPUs."""

    def ready(self, job: int) -> Any:
        """Return the time from which a job makes progress: now, or the end of its overhead.

        For a job that was not running before this decision, this is now.
        """

    def samples(self, job: int) -> Any:
        """Return the samples that a job has processed, including lost work, or 0 if its `training` is None."""

    def observed(self, job: int) -> Observation | None:
        """Return the current observation of a job's training, or None if it has none."""

    def trainee(self, job: int) -> TraineeView | None:
        """Return the view of an adaptive job, or None for any other job."""

    def service(self, job: int) -> Any:
        """Return the GPU-seconds that a job has used so far."""

    def mode(self, job: int) -> str:
        """Return the mode of a running job."""

    def placement(self, job: int) -> tuple[int, ...]:
        """Return the GPUs of a running job by number.

        The tuple is empty in a plain cluster, and before the GPUs are chosen.
        """

    def users(self, gpu: int) -> tuple[int, ...]:
        """Return the jobs that hold a GPU of a cluster of racks."""

    def memory(self, gpu: int) -> int | None:
        """Return the free bytes of memory of a GPU in a cluster of racks, or None if memory is unlimited."""

    def free_gpus(self, kind: str = "") -> tuple[int, ...]:
        """Return the numbers of the free GPUs in a cluster of racks, either of one type or of any type."""

    def fits(self, job: int) -> bool:
        """Check whether as many GPUs as a job demands are free, of its type and with enough memory."""

    def offer(self, job: int, placer: Placer | None = None) -> tuple[int, ...] | None:
        """Return the numbers of the free GPUs that a placer, by default the run's, would choose for a job.

        Among equally close GPUs, those with the least sufficient memory are chosen. The result is None if too
        few GPUs are free, and an empty tuple in a plain cluster, whose GPUs have no numbers.
        """

    def tier(self, gpus: Sequence[int]) -> str:
        """Return the network tier that joins GPUs, which is a level of the cluster."""

    def rate(
        self, job: int, gpus: Allocation, mode: str = "", beside: Sequence[int] = (), *, tier: str | None = None
    ) -> Any:
        """Return the speed that a job would now have in a mode, on GPUs shared with the jobs in `beside`.

        If `gpus` is a number, the GPUs are on one machine, or joined by `tier` if given, and of the fastest
        type that the mode allows.
        """


class Decider(Protocol):
    """An object that makes the decisions of one run. A policy creates a new one for every run.

    Attributes
    ----------
    preemptive
        Whether the decider may stop jobs. The simulator enforces this.
    """

    preemptive: bool

    def decide(self, state: State) -> Iterable[Action]:
        """Return or yield the actions after an event.

        The actions are applied in order, and only their result takes effect. A generator sees the plan after
        each action that it has yielded. A run in which neither the clock nor any job advances is stopped
        (`gsopt.simulation.guard`).
        """


#: A policy: a callable that takes the initial state and its own keyword options, and returns a decider.
Policy = Callable[..., Decider]
