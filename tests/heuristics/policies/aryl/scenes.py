"""Scenes: machines of two pools, jobs for them, and loans, in short."""

from typing import Any

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Event, Leave, Loan, Reclaim
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.speed import linear_menu
from gsopt.simulation import Policy, Replay, simulate
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
