"""View: the part of a run that a policy can see.

A policy can read the run through this view, but not change it.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from gsopt.core.errors import InvalidInput, shorten
from gsopt.scenario.adaptive.view import TraineeView
from gsopt.scenario.cluster import Cluster, Tier
from gsopt.scenario.job import DEFAULT_MODE, Job
from gsopt.scenario.training import Observation
from gsopt.simulation.ledger import Forbidden, Placements
from gsopt.simulation.placer import Placer
from gsopt.simulation.policy import Allocation, IllegalDecision, NotReleased, Request, Start
from gsopt.simulation.progress import left_after, slowdown_at, stretches
from gsopt.simulation.run_state import RunState

#: Tiers that may be named in any cluster.
_TIERS = frozenset(Tier)


class ReleasedJobs(Sequence[Job]):
    """The jobs of a run in order of their numbers; only released jobs are accessible.

    The length of the sequence also counts the jobs that are not released yet.
    """

    __slots__ = ("_jobs", "_run")

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._jobs = run.jobs

    def __len__(self) -> int:
        return len(self._jobs)

    def __getitem__(self, job: Any) -> Any:
        if 0 <= job < self._run.next_job:
            return self._jobs[job]
        raise NotReleased(f"job {job} is not released yet, or is not in the workload")

    def __iter__(self) -> Iterator[Job]:
        return (self[job] for job in range(len(self)))


class RunView:
    """The state of a run as a policy sees it."""

    __slots__ = ("_jobs", "_run", "_running")

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._jobs = ReleasedJobs(run)
        self._running = MappingProxyType(run.running)

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs in order of their numbers; only released jobs are accessible."""
        return self._jobs

    @property
    def now(self) -> Any:
        """The current time, in seconds."""
        return self._run.now

    @property
    def cluster(self) -> Cluster:
        """The whole cluster, including GPUs that are currently unavailable."""
        return self._run.scenario.cluster

    @property
    def servers(self) -> tuple[str, ...]:
        """Names of the machines that are present, even if a capacity limit excludes their GPUs.

        A plain cluster has none.
        """
        return self._run.supply.servers()

    @property
    def capacity(self) -> int:
        """Number of available GPUs."""
        return self._run.ledger.capacity

    @property
    def share_limit(self) -> int:
        """Maximum number of jobs that may hold the same GPU at the same time."""
        return self._run.scenario.share_limit

    @property
    def free(self) -> int:
        """Number of available GPUs that no job holds; it may be negative until the plan is complete."""
        run = self._run
        return run.ledger.free - run.plan.owed

    @property
    def arrived(self) -> tuple[int, ...]:
        """The jobs that were released since the last decision."""
        return self._run.arrived

    @property
    def completed(self) -> tuple[int, ...]:
        """The jobs that completed since the last decision."""
        return self._run.completed

    @property
    def evicted(self) -> tuple[int, ...]:
        """The jobs evicted since the last decision, or by a `Vacate` of this decision."""
        return self._run.evicted

    @property
    def requests(self) -> tuple[Request, ...]:
        """The open requests, in order of deadline."""
        return self._run.supply.requests()

    @property
    def running(self) -> Mapping[int, int]:
        """The running jobs in order of their starts, mapped to their numbers of GPUs."""
        return self._running

    def remaining(self, job: int) -> Any:
        """Return a job's remaining work in seconds at speed 1 (see `gsopt.scenario.job.Job`)."""
        run = self._run
        if run.held[job]:
            elapsed = run.now - run.progress_from[job]
            if elapsed > 0:
                if job in run.trainees:
                    return run.trainees.left(job, run.now)
                left, rate, course = run.remaining[job], run.rate[job], run.courses[job]
                return left_after(elapsed, left, rate, course) if course else left - elapsed * rate
        elif not 0 <= job < run.next_job:
            self._jobs[job]  # raises
        return run.remaining[job]

    def ready(self, job: int) -> Any:
        """Return the time from which a job makes progress: now or, if later, the end of its overhead."""
        run = self._run
        if not 0 <= job < run.next_job:
            self._jobs[job]  # raises
        return max(run.progress_from[job], run.now) if run.held[job] else run.now

    def samples(self, job: int) -> Any:
        """Return how many samples a job has processed, including lost work."""
        run = self._run
        left = self.remaining(job)
        return run.samples[job] + (run.remaining[job] - left) * run.density[job]

    def observed(self, job: int) -> Observation | None:
        """Return the current observation of a job's training, or None if `Job.training` is None."""
        item: Job = self._jobs[job]
        if item.training is None:
            return None
        return item.training.observe(self.samples(job), 1 - float(self.remaining(job)) / item.duration)

    def trainee(self, job: int) -> TraineeView | None:
        """Return what is known about an adaptive job's training, or None if the job is not adaptive."""
        self._jobs[job]  # raises
        return self._run.trainees.view(job, self._run.now)

    def service(self, job: int) -> Any:
        """Return the GPU time that a job has had so far, in GPU-seconds."""
        run = self._run
        if not 0 <= job < run.next_job:
            self._jobs[job]  # raises
        held = run.held[job]
        return run.service[job] + held * (run.now - run.held_since[job])

    def mode(self, job: int) -> str:
        """Return the mode of a running job."""
        run = self._run
        if not 0 <= job < run.next_job:
            self._jobs[job]  # raises
        return run.plan.mode(job)

    def placement(self, job: int) -> tuple[int, ...]:
        """Return the indices of a running job's GPUs."""
        run = self._run
        if not 0 <= job < run.next_job:
            self._jobs[job]  # raises
        return run.ledger.placement(job)

    def users(self, gpu: int) -> tuple[int, ...]:
        """Return the jobs that hold the given GPU."""
        ledger = self._run.ledger
        return ledger.users(gpu) if isinstance(ledger, Placements) else ()

    def memory(self, gpu: int) -> int | None:
        """Return the free memory of a GPU, in bytes; None if memory is unlimited."""
        ledger = self._run.ledger
        return ledger.memory(gpu) if isinstance(ledger, Placements) else None

    def free_gpus(self, kind: str = "") -> tuple[int, ...]:
        """Return the indices of the free GPUs of the given type or, by default, of all types."""
        ledger = self._run.ledger
        return ledger.free_gpus(kind) if isinstance(ledger, Placements) else ()

    def fits(self, job: int) -> bool:
        """Check whether as many GPUs as a job demands are free, of its type and with enough memory."""
        run = self._run
        item = run.jobs[job] if 0 <= job < run.next_job else self._jobs[job]
        return bool(item.gpus <= run.ledger.room(item, "") - run.plan.owed)

    def offer(self, job: int, placer: Placer | None = None) -> tuple[int, ...] | None:
        """Return the free GPUs that a placer would choose for a job, by index; None if too few are free."""
        if not self.fits(job):
            return None
        item = self._run.jobs[job]
        try:
            return self._run.ledger.offer(item, DEFAULT_MODE, item.gpus, placer)
        except Forbidden as rule:
            raise IllegalDecision(Start(job), str(rule)) from None

    def tier(self, gpus: Sequence[int]) -> str:
        """Return the network tier that connects the given GPUs."""
        cluster = self._run.scenario.cluster
        return Tier.MACHINE if cluster.is_plain else cluster.tier(gpus)

    def rate(
        self, job: int, gpus: Allocation, mode: str = "", beside: Sequence[int] = (), *, tier: str | None = None
    ) -> Any:
        """Return the speed that a job would have now in a mode, on GPUs shared with the jobs in `beside`."""
        run, item = self._run, self._jobs[job]
        count = gpus if isinstance(gpus, int) else len(gpus)
        if tier is None:
            tier = Tier.MACHINE if isinstance(gpus, int) else self.tier(gpus)
        elif tier not in run.levels and tier not in _TIERS:
            raise InvalidInput("tier", shorten(tier), f"must be one of {', '.join(run.levels)}")
        types = run.types.best(item, mode, count) if isinstance(gpus, int) else run.types.of(gpus)
        rate = run.rate_on(job, count, mode, tier, beside, types)
        if job in run.trainees:
            return rate * run.trainees.rate(job, gpus, tier, mode, run.now)
        return rate / slowdown_at(self.remaining(job), stretches(item, mode, run.number))
