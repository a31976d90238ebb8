"""Run state: the time, jobs and GPUs of a run at one point in time."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gsopt.scenario.scenario import Scenario
from gsopt.simulation.gpu_types import GpuTypes
from gsopt.simulation.ledger import Placements, PlainLedger
from gsopt.simulation.placer import Placer
from gsopt.simulation.plan import Plan
from gsopt.simulation.progress import Stretch
from gsopt.simulation.supply import Supply
from gsopt.simulation.trainees import Trainees


class RunState:
    """The time of a run, the progress and figures of its jobs by number, and the GPUs that they hold."""

    def __init__(
        self, scenario: Scenario, number: Callable[[Any], Any], placer: Placer, evict: Callable[..., None]
    ) -> None:
        self.scenario, self.number = scenario, number
        self.jobs = tuple(scenario.workload.jobs)
        total = len(self.jobs)
        zero, self.one = number(0), number(1)
        self.release = [number(job.release_date) for job in self.jobs]
        self.now: Any = self.release[0] if total else zero
        self.next_job, self.active = 0, 0
        self.arrived: tuple[int, ...] = ()  # since the last decision, like the other two
        self.completed: tuple[int, ...] = ()
        self.evicted: tuple[int, ...] = ()
        self.remaining = [number(job.duration) for job in self.jobs]
        self.rate = [self.one] * total  # speed, without phases
        self.courses: list[tuple[Stretch, ...]] = [()] * total  # phases of the mode in which a job runs
        self.progress_from = [zero] * total  # time to which `remaining` refers; after now during an overhead
        self.held = [0] * total  # GPUs since `held_since`, whatever is planned; 0 when waiting
        self.held_since = [zero] * total
        self.version = [0] * total  # completions in the heap of an older version are void
        self.started: list[Any] = [None] * total
        self.last_started = [0] * total  # serial number of each job's last start; 0 if it never started
        self.completion: list[Any] = [None] * total
        # Seconds with GPUs, and GPU-seconds, without the segment that is running.
        self.holding, self.service = [zero] * total, [zero] * total
        self.waiting = [zero] * total  # share of its time in which a job waits for the network
        self.communicated = [zero] * total  # seconds of that, up to `progress_from`
        self.density, self.samples = [zero] * total, [zero] * total  # per second of work in this mode; so far
        self.interval = number(scenario.checkpoint_interval)
        self.saved = [zero] * total  # work in the checkpoint of the last start
        self.lost_gpu_seconds = zero  # of lost work, on the GPUs that its jobs demand
        self.starts = self.preemptions = self.resizes = 0
        # Since the last completion: changes in a row during overheads, and stops of jobs without checkpoints.
        self.fruitless = self.begun_anew = 0
        self.occupied_seconds, self.shared_seconds, self.capacity_seconds = zero, zero, zero
        self.until_completion = (zero, zero)  # occupied and capacity seconds at the last completion
        self.has_overheads, self.has_applications = bool(scenario.overheads), bool(scenario.applications)
        self.has_tiers = bool(scenario.speed.tiers) and not scenario.cluster.is_plain
        self.levels, self.trainees = scenario.cluster.levels, Trainees(scenario)
        self.types, self.shapes = GpuTypes(scenario), self.trainees.shapes
        self.is_uniform = scenario.cluster.is_plain or (
            scenario.share_limit == 1 and not (scenario.speed.tiers or self.types.count)
        )
        self.ledger = _make_ledger(scenario, placer)
        self.plan = Plan(self.jobs, self.ledger)
        self.running = self.plan.running
        self.supply = Supply(scenario, self.ledger, self.running, evict, number)

    def rate_on(
        self,
        job: int,
        count: int,
        mode: str,
        tier: str,
        partners: Sequence[int],
        types: Mapping[str, int] | None,
    ) -> Any:
        """Return the speed of a job, ignoring phases, on GPUs of the given types that are connected by a tier.

        For an adaptive job, the result is only the factor by which its partners and these GPU types change its
        speed.
        """
        item, speed = self.jobs[job], self.scenario.speed
        if job in self.trainees:
            return 1 / speed.slowdown(item, [self.jobs[other] for other in partners], types=types)
        if self.scenario.cluster.is_plain:
            return self.number(item.speed(count, mode))
        beside = [self.jobs[other] for other in partners]
        return speed.rate(item, count, tier, beside, self.number, mode=mode, levels=self.levels, types=types)


def _make_ledger(scenario: Scenario, placer: Placer) -> PlainLedger | Placements:
    if scenario.cluster.is_plain:
        return PlainLedger(scenario.cluster.gpus)
    return Placements(scenario.cluster, scenario.share_limit, placer)
