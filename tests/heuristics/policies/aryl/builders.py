"""Machines with workers, jobs, loans and snapshots, written down in short."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Event, Leave, Loan, Reclaim
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.speed import linear_menu
from gsopt.simulation import Policy, Replay, simulate
from heuristics.policies.aryl.forms import Form
from heuristics.policies.aryl.machines import Machines
from heuristics.policies.aryl.occupancy import Occupancy, RunningJob
from heuristics.policies.aryl.scheduler import FlexibleJob, Pool, Scheduler, SchedulerView, WaitingJob
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle


def pools(own: int, lent: int, gpus: int = 8) -> Cluster:
    """Return machines v0, v1, ... with V100 GPUs, then t0, t1, ... with T4 GPUs."""
    machines = [Machine(name=f"v{index}", gpus=gpus, gpu_type="V100") for index in range(own)]
    machines += [Machine(name=f"t{index}", gpus=gpus, gpu_type="T4") for index in range(lent)]
    return Cluster(racks=[Rack(name="r", machines=machines)])


def job(name: str, release_date: float, duration: float, gpus: int, most: int = 0, **fields: Any) -> Job:
    """Make a job of V100 GPUs; with `most` it may run on all multiples of its GPUs' fourth part up to that."""
    fields = {"gpu_type": "V100", **fields}
    if most and "menu" not in fields:
        fields["menu"] = linear_menu(gpus, range(gpus, most + 1, fields.pop("step", gpus)))
    return Job(name=name, release_date=release_date, duration=duration, gpus=gpus, **fields)


def either(name: str, release_date: float, duration: float, gpus: int, most: int = 0, **fields: Any) -> Job:
    """Make a job that runs on V100 GPUs or on as many T4 GPUs."""
    given = job(name, release_date, duration, gpus, most, **fields)
    menu = given.menu or [(gpus, 1.0)]
    return given.model_copy(update={"modes": (Mode(name="inference", gpu_type="T4", menu=menu),)})


def lent(lent: int, *changes: tuple[float, int], notice: float = 300) -> list[Event]:
    """Let so many T4 machines be away at first, then come by loans and go by requests, as numbers say."""
    events: list[Event] = [Leave(time=0, servers=[f"t{index}" for index in range(lent)])] if lent else []
    for time, number in changes:
        if number > 0:
            events.append(Loan(time=time, servers=number, gpu_type="T4"))
        else:
            events.append(Reclaim(time=time, deadline=time + notice, servers=-number, gpu_type="T4"))
    return events


def run(policy: Policy, cluster: Cluster, *jobs: Job, **options: Any) -> Replay:
    """Simulate in fractions, and judge."""
    return simulate(
        bundle(jobs), policy, cluster=cluster, record=True, bound=False, **{"exact": True, **options}
    )


def machines_of(replay: Replay, cluster: Cluster, name: str, time: float) -> dict[str, int]:
    """Return the GPUs that a job holds at a time, by machine."""
    assert replay.schedule is not None
    held: dict[str, int] = {}
    for segment in replay.schedule.segments:
        if segment.job == name and segment.start <= time < segment.end:
            for gpu in segment.placement:
                machine = cluster.machines[cluster.machine_of[gpu]].name
                held[machine] = held.get(machine, 0) + 1
    return held


def preempted(replay: Replay) -> list[str]:
    """Return the jobs that had to wait again, each as often as it had."""
    assert replay.schedule is not None
    last: dict[str, Any] = {}
    found = []
    for segment in replay.schedule.segments:
        if segment.job in last and last[segment.job] < segment.start:
            found.append(segment.job)
        last[segment.job] = segment.end
    return found


def occupancy(own: int, lent: int, gpus: int = 8) -> Occupancy:
    """Return books of machines 0, 1, ... of the training pool, then those of the inference pool, all empty."""
    found = Occupancy(Machines(pools(own, lent, gpus), "T4"))
    found.present[:] = found.machines.gpus
    return found


def form(
    given: Occupancy,
    pool: Pool,
    worker_gpus: int,
    base: int,
    speeds: tuple[float, ...] = (1.0,),
    mode: str = "",
) -> Form:
    """Return a form on all machines of a pool."""
    inference = given.machines.inference
    suits = inference | ~inference if pool == "mixed" else inference == (pool == "inference")
    return Form(mode, pool, suits, worker_gpus, base, speeds)


def running(
    given: Occupancy,
    number: int,
    how: Form,
    base: dict[int, int],
    flexible: dict[int, int] | None = None,
) -> RunningJob:
    """Let a job run on its workers."""
    begun = RunningJob(number, how, base, pool=how.pool, speeds=how.speeds)
    given.start(begun)
    for machine, workers in (flexible or {}).items():
        given.put_flexible(begun, machine, workers)
    return begun


def linear(
    job: int,
    time: float,
    *,
    base: int = 1,
    most: int = 4,
    gpus: int = 1,
    extra: int = 0,
    pool: Pool = "training",
) -> FlexibleJob:
    """Return a job whose speed is its number of workers."""
    speeds = tuple(float(workers) for workers in range(base, most + 1))
    return FlexibleJob(job, time, gpus, base, most, extra, pool, speeds)


def calm(*jobs: FlexibleJob, training: int = 0, inference: int = 0) -> SchedulerView:
    """Return an epoch in which no job waits."""
    return SchedulerView(0.0, (), jobs, {"training": training, "inference": inference}, pending=False)


def crowded(waiting: Sequence[WaitingJob], *jobs: FlexibleJob, training: int = 0) -> SchedulerView:
    """Return an epoch in which jobs wait."""
    return SchedulerView(0.0, tuple(waiting), jobs, {"training": training, "inference": 0}, pending=True)


def drawn(seed: int) -> SchedulerView:
    """Draw an epoch: all pools, workers of several sizes, menus with gaps, and speeds that fall at the end."""
    random = Random(seed)
    elastic = tuple(_elastic(random, job) for job in range(random.randint(0, 9)))
    waiting = []
    for job in range(10, 10 + random.randint(0, 5)):
        later = _elastic(random, job)._replace(extra=0) if random.random() < 0.5 else None
        gpus = later.base * later.worker_gpus if later else random.randint(1, 8)
        waiting.append(
            WaitingJob(job, float(job), later.time if later else float(random.randint(1, 99)), gpus, later)
        )
    idle = {"training": random.randint(0, 12), "inference": random.randint(0, 6)}
    return SchedulerView(float(random.randint(0, 99)), tuple(waiting), elastic, idle, pending=bool(waiting))


def _elastic(random: Random, job: int) -> FlexibleJob:
    base, more = random.randint(1, 3), random.randint(1, 5)
    speeds = [float(base)]
    for _ in range(more):
        speeds.append(max(speeds) + random.choice([1.0, 1.0, 0.5, -0.25]))
    speeds[1:] = [0.0 if random.random() < 0.2 else speed for speed in speeds[1:-1]] + speeds[-1:]
    pool: Pool = random.choice(["training", "training", "inference", "mixed"])
    extra = random.choice([0, *(w for w in range(1, more + 1) if speeds[w] > 0)])
    time = float(random.randint(1, 99))
    return FlexibleJob(job, time, random.choice([1, 1, 2, 4]), base, base + more, extra, pool, tuple(speeds))


def assert_legal(snapshot: SchedulerView, scheduler: Scheduler) -> None:
    """Assert that who starts waits, and that flexible workers are allowed and fit into their pools."""
    order = scheduler.order(snapshot)
    assert len(set(order)) == len(order)
    assert set(order) <= {job.job for job in snapshot.waiting}
    extras = scheduler.extras(snapshot)
    assert set(extras) <= {job.job for job in snapshot.elastic}
    held = {"training": 0, "inference": 0, "mixed": 0}
    room = dict(snapshot.idle) | {"mixed": 0}
    for job in snapshot.elastic:
        extra = extras.get(job.job, 0)
        assert extra == 0 or extra in job.extras
        held[job.pool] += extra * job.worker_gpus
        room[job.pool] += job.extra * job.worker_gpus
    assert held["training"] <= room["training"]
    assert held["inference"] <= room["inference"]
    assert sum(held.values()) <= sum(room.values())


def assert_always_legal(make: Callable[[], Scheduler], number: int = 200) -> None:
    """Assert that answers to random epochs are legal, and that new schedulers give the same."""
    for seed in range(cases(number)):
        snapshot = drawn(seed)
        assert_legal(snapshot, make())
        one, other = make(), make()
        assert one.order(snapshot) == other.order(snapshot)
        assert one.extras(snapshot) == other.extras(snapshot)
