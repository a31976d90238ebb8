"""Policy: the actions of a policy during a simulation, and the state on which they are based."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from gsopt.core.errors import GsoptError
from gsopt.scenario.adaptive.view import TraineeView
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.training import Observation
from gsopt.simulation.placer import Placer

#: The GPUs of an action: either their number, or the indices of particular GPUs.
Allocation = int | tuple[int, ...]


class Start(NamedTuple):
    """An action that starts or resumes a waiting job, by default on as many GPUs as it demands.

    Except in a plain cluster, particular GPUs may be given by index. If other jobs hold one of them, the jobs
    share it. This is forbidden if it would exceed `State.share_limit` or the memory of the GPU.

    Examples
    --------
    >>> Start(3).gpus, Start(3, 2), Start(3, (0, 1), "halves").mode
    (None, Start(job=3, gpus=2, mode=''), 'halves')
    """

    job: int
    gpus: Allocation | None = None
    mode: str = ""


class Stop(NamedTuple):
    """An action that preempts a running job and returns it to the queue.

    The job keeps its progress if it has checkpoints.

    Examples
    --------
    >>> Stop(3)
    Stop(job=3)
    """

    job: int


class Resize(NamedTuple):
    """An action that changes the number of GPUs, the particular GPUs, or the mode of a running job.

    If `mode` is None, the mode stays the same.

    Examples
    --------
    >>> Resize(3, 4), Resize(3, 4, "halves").mode
    (Resize(job=3, gpus=4, mode=None), 'halves')
    """

    job: int
    gpus: Allocation
    mode: str | None = None


class Move(NamedTuple):
    """An action that moves a running job to other GPUs, given by index, without changing their number.

    Examples
    --------
    >>> Move(3, (4, 5))
    Move(job=3, gpus=(4, 5))
    """

    job: int
    gpus: tuple[int, ...]


class Assign(NamedTuple):
    """An action that runs exactly the given jobs from now on.

    Each job is mapped to its GPUs (their number or their indices), or to a pair of its GPUs and its mode.
    Without a mode, it runs in its default mode.

    A running job whose number of GPUs and mode stay the same keeps its GPUs, unless others are given by
    index. All other running jobs release their GPUs before GPUs are chosen for jobs that are given only a
    number of GPUs.

    Examples
    --------
    >>> Assign({3: 2, 5: (1, "halves")}).jobs[3]
    2
    """

    jobs: Mapping[int, Allocation | tuple[Allocation, str]]


class Vacate(NamedTuple):
    """An action that vacates machines, given by name, for open requests; jobs on them are evicted at once.

    If several requests may take a machine, it counts towards the one with the earliest deadline.
    `State.evicted` contains the evicted jobs until the decision ends. In a plain cluster, the action is not
    allowed; there, GPUs are taken at the deadline, free ones first.

    Examples
    --------
    >>> Vacate(["machine 0.1"])
    Vacate(servers=['machine 0.1'])
    """

    servers: Sequence[str]


class Wake(NamedTuple):
    """An action that requests a decision at the given time, in seconds on the clock of `State.now`.

    The time must be later than `State.now`. Any decision before that time cancels the request. If one decision
    contains several requests, all but the earliest are ignored. If decisions are made in rounds, the requested
    decision is made in the first round at or after the given time.

    Examples
    --------
    >>> Wake(3600)
    Wake(time=3600)
    """

    time: Any


Action = Start | Stop | Resize | Move | Assign | Vacate | Wake


class IllegalDecision(GsoptError):
    """An error that is raised if a policy's decision breaks a rule, or if a run makes no progress.

    Attributes
    ----------
    action
        The forbidden action.
    rule
        The rule that the action breaks.
    source
        The policy and the time of the decision, or an empty string.

    Examples
    --------
    >>> print(IllegalDecision(Start(3), "a job must not start before its release"))
    Start(job=3, gpus=None, mode=''): a job must not start before its release
    """

    def __init__(self, action: object, rule: str, source: str = "") -> None:
        self.action, self.rule, self.source = action, rule, source
        super().__init__(f"{source}: {action}: {rule}" if source else f"{action}: {rule}")

    def __reduce__(self) -> tuple[type["IllegalDecision"], tuple[object, str, str]]:
        return type(self), (self.action, self.rule, self.source)


class NotReleased(GsoptError, LookupError):
    """An error that is raised when a policy reads a job that is not released yet, or that does not exist.

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
    """An open request to give up machines or, in a plain cluster, GPUs.

    Attributes
    ----------
    deadline
        Time in seconds at which any machines or GPUs that have not been given up yet are taken.
    servers
        Number of machines that still have to be given up; 0 in a plain cluster.
    gpus
        Number of GPUs that still have to be given up; 0 except in a plain cluster.
    among
        Names of the machines that may be given up for the request; empty for no restriction by name.
    gpu_type
        GPU type of the machines that may be given up for the request; empty if any type may be.

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
    """The current state of a run as a policy sees it: read-only, and without access to unreleased jobs.

    Jobs are numbered from 0 in order of release date. All times, including release dates and deadlines, are
    in seconds since the origin of the scenario's clock. The origin is the first release date, unless
    `gsopt.scenario.scenario.Physics.clock_start` is set.

    After each action that is yielded, the state shows the plan so far. The plan takes effect at the end of
    the decision.
    """

    @property
    def jobs(self) -> Sequence[Job]:
        """All jobs in order of their numbers. Reading a job that is not yet released raises `NotReleased`."""

    @property
    def now(self) -> Any:
        """The current time, in seconds."""

    @property
    def cluster(self) -> Cluster:
        """The whole cluster, including GPUs that are currently unavailable."""

    @property
    def servers(self) -> tuple[str, ...]:
        """Names of the machines that are present, even if a capacity limit excludes their GPUs.

        A plain cluster has none.
        """

    @property
    def capacity(self) -> int:
        """Number of available GPUs."""

    @property
    def share_limit(self) -> int:
        """Maximum number of jobs that may hold the same GPU at the same time."""

    @property
    def free(self) -> int:
        """Number of available GPUs that no job holds; it may be negative until the plan is complete."""

    @property
    def arrived(self) -> tuple[int, ...]:
        """The jobs that were released since the last decision."""

    @property
    def completed(self) -> tuple[int, ...]:
        """The jobs that completed since the last decision."""

    @property
    def evicted(self) -> tuple[int, ...]:
        """The jobs evicted since the last decision, or by a `Vacate` of this decision.

        Jobs are evicted when GPUs leave the cluster.
        """

    @property
    def requests(self) -> tuple[Request, ...]:
        """The open requests to give up machines or GPUs, in order of deadline."""

    @property
    def running(self) -> Mapping[int, int]:
        """The running jobs in order of their starts, mapped to their numbers of GPUs."""

    def remaining(self, job: int) -> Any:
        """Return a job's remaining work in seconds at speed 1 (see `gsopt.scenario.job.Job`)."""

    def ready(self, job: int) -> Any:
        """Return the time from which a job makes progress: now or, if later, the end of its overhead.

        If the job was not running before this decision, the result is the current time.
        """

    def samples(self, job: int) -> Any:
        """Return how many samples a job has processed, including lost work; 0 if `Job.training` is None."""

    def observed(self, job: int) -> Observation | None:
        """Return the current observation of a job's training, or None if `Job.training` is None."""

    def trainee(self, job: int) -> TraineeView | None:
        """Return what is known about an adaptive job's training, or None if the job is not adaptive."""

    def service(self, job: int) -> Any:
        """Return the GPU time that a job has had so far, in GPU-seconds."""

    def mode(self, job: int) -> str:
        """Return the name of a running job's mode, which is empty for the default mode."""

    def placement(self, job: int) -> tuple[int, ...]:
        """Return the indices of a running job's GPUs.

        The tuple is empty in a plain cluster. If this decision grants the job only a number of GPUs, it is also
        empty until they are chosen.
        """

    def users(self, gpu: int) -> tuple[int, ...]:
        """Return the jobs that hold the given GPU; none in a plain cluster."""

    def memory(self, gpu: int) -> int | None:
        """Return the free memory of a GPU, in bytes; None if it is unlimited, as in a plain cluster."""

    def free_gpus(self, kind: str = "") -> tuple[int, ...]:
        """Return the indices of the free GPUs of a type (by default, of any); none in a plain cluster."""

    def fits(self, job: int) -> bool:
        """Check whether as many GPUs as a job demands are free, of its type and with enough memory."""

    def offer(self, job: int, placer: Placer | None = None) -> tuple[int, ...] | None:
        """Return the indices of the free GPUs that a placer (by default, that of the run) chooses for a job.

        The placer chooses as many GPUs as the job demands, of its type and with enough memory. If GPUs have
        different amounts of memory, it chooses once for each amount, among the GPUs with at most this memory.
        The result is the choice that the narrowest network tier connects; ties go to the smallest amount. It is
        None if the job does not fit (see `fits`). Otherwise, it is an empty tuple in a plain cluster, whose
        GPUs have no indices.
        """

    def tier(self, gpus: Sequence[int]) -> str:
        """Return the network tier that connects the given GPUs; it is a level of the cluster."""

    def rate(
        self, job: int, gpus: Allocation, mode: str = "", beside: Sequence[int] = (), *, tier: str | None = None
    ) -> Any:
        """Return the speed that a job would have now in a mode, on GPUs shared with the jobs in `beside`.

        If `gpus` is a number, the GPUs are assumed to be of the fastest type that the mode allows, and to be
        connected by `tier` or, if that is None, to be on one machine (for an adaptive job, on as few machines
        as possible).
        """


class Decider(Protocol):
    """An object that makes the decisions in one run. A policy creates a new decider for every run.

    Attributes
    ----------
    preemptive
        Whether the decider may stop jobs. The simulator enforces this.
    """

    preemptive: bool

    def decide(self, state: State) -> Iterable[Action]:
        """Return or yield the actions of one decision.

        The actions are applied in order, and only their combined result takes effect. If they are yielded one
        by one, `state` shows the result so far after each of them. A run that makes no progress is aborted (see
        `gsopt.simulation.guard`).
        """


#: A policy: a callable that takes the initial state and keyword options of its own, and returns a decider.
Policy = Callable[..., Decider]
