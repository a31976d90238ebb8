"""Scenarios in which jobs share GPUs: random ones, and a short way to write others down."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode, Phase
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.schedule import Segment
from gsopt.simulation import Policy, Replay, simulate
from instances import data_folder
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import workload

_MODELS = ("cnn", "bert", "gan")


def mixed(gpus: int, *kinds: str) -> Cluster:
    """Return machines with so many GPUs each, of some types."""
    machines = [Machine(name=f"m{n}", gpus=gpus, gpu_type=kind) for n, kind in enumerate(kinds)]
    return Cluster(racks=[Rack(name="r", machines=machines)])


def machine(gpus: int, memory: int | None = None) -> Cluster:
    """Return a single machine."""
    return Cluster(racks=[Rack(name="r", machines=[Machine(name="m", gpus=gpus, memory=memory)])])


#: Scenarios of one kind of GPUs: with overheads and GPUs that go, in machines, and without jobs.
ALIKE = [
    Scenario(
        workload=workload((0, 50, 1), (0, 20, 4), (10, 35, 2), (10, 9, 1), (25, 80, 2), (90, 10, 1)),
        cluster=Cluster.plain(4),
        overheads={"": Overhead(start=2.0)},
        capacity_changes=[CapacityChange(time=20, gpus=3), CapacityChange(time=60, gpus=4)],
    ),
    Scenario(
        workload=workload((0, 50, 1), (3, 20, 2), (10, 35, 2)), cluster=Cluster.uniform(machines=2, gpus=2)
    ),
    Scenario(workload=workload(), cluster=Cluster.plain(1)),
]


def job(name: str, release_date: float, duration: float, gpus: int, **fields: Any) -> Job:
    """Make a job whose model is its name, so that each pair has slowdowns of its own."""
    return Job(name=name, **{"model": name, **fields}, release_date=release_date, duration=duration, gpus=gpus)


def halves(gpus: int = 1, speed: float = 0.5, memory: int = 3, steps: int = 2) -> Mode:
    """Return a mode of sub-batches."""
    return Mode(name=f"{steps} steps", menu=[(gpus, speed)], memory=memory, steps=steps)


def run(
    policy: Policy,
    *jobs: Job,
    cluster: Cluster,
    slowdown: float = 1.0,
    slowdowns: dict[str, dict[str, float]] | None = None,
    **options: Any,
) -> Replay:
    """Simulate in fractions, with two jobs per GPU; slowdowns are of a model beside another."""
    speed = Speed(default_interference=slowdown, interference=slowdowns or {})
    return simulate(
        bundle(jobs), policy, cluster=cluster, speed=speed, record=True, bound=False,
        **{"share_limit": 2, "exact": True, **options},
    )  # fmt: skip


def pieces(replay: Replay, name: str = "") -> list[Segment]:
    """Return the pieces of a schedule, or of one job in it."""
    assert replay.schedule is not None
    return [each for each in replay.schedule.segments if name in ("", each.job)]


def held(replay: Replay, name: str) -> list[tuple[float, tuple[int, ...], str]]:
    """Return from when a job held which GPUs, and in which mode."""
    return [(each.start, each.placement, each.mode) for each in pieces(replay, name)]


def counts(replay: Replay, name: str) -> list[tuple[float, int]]:
    """Return from when a job held how many GPUs."""
    return [(each.start, each.gpus) for each in pieces(replay, name)]


def traces() -> Path:
    """Return the folder of public traces, or skip the test."""
    return data_folder() or pytest.skip("GSOPT_DATA is unset")


def drawn(random: Random, *, rough: bool = False) -> Scenario:
    """Draw a scenario on machines of two types; a rough one has phases, overheads and GPUs that go."""
    machines = [
        Machine(
            name=f"m{i}", gpus=random.randint(1, 4), memory=random.choice([8, 12]), gpu_type=random.choice("xy")
        )
        for i in range(random.randint(1, 3))
    ]
    racks = [Rack(name=f"r{i}", machines=[each]) for i, each in enumerate(machines)]
    cluster = Cluster(racks=racks)
    table = {
        a: {b: random.choice([1.0, 1.1, 1.5, 2.0, 3.0]) for b in _MODELS if random.random() < 0.8}
        for a in _MODELS
    }
    speed = Speed(
        tiers={"cnn": TierPenalty(machine=0.25, rack=0.5, network=1.0)},
        interference=table,
        default_interference=1.25,
    )
    jobs = [_drawn_job(random, index, machines, rough=rough) for index in range(random.randint(2, 12))]
    total = cluster.gpus
    physics: dict[str, Any] = {}
    if rough:
        physics["capacity_changes"] = [
            CapacityChange(time=3.5, gpus=random.randint(1, total)), CapacityChange(time=9, gpus=total)
        ]  # fmt: skip
        physics["overheads"] = {"bert": Overhead(start=0.5, stop=0.25)}
    return Scenario.of(bundle(jobs), cluster, speed=speed, share_limit=2, **physics)


def _drawn_job(random: Random, index: int, machines: list[Machine], *, rough: bool) -> Job:
    kind = random.choice(["", "", machines[0].gpu_type])
    room = sum(each.gpus for each in machines if kind in ("", each.gpu_type))
    gpus = random.randint(1, room)
    memory = random.choice([None, 0, 3, 6, 8])
    modes = [halves(gpus, 0.75, random.randint(1, 5))] if memory and random.random() < 0.6 else []
    if modes and random.random() < 0.5:
        modes.append(halves(gpus, 0.5, 1, steps=4))
    phases = [Phase(until=0.5), Phase(until=1, slowdown=2)] if rough and random.random() < 0.3 else []
    return Job(
        name=f"j{index}",
        release_date=random.choice([0, 0, 1, random.randint(0, 12)]),
        duration=random.choice([random.randint(1, 9), random.randint(1, 90) / 8]),
        gpus=gpus,
        model=random.choice(["", *_MODELS]),
        memory=memory,
        gpu_type=kind,
        modes=modes,
        phases=phases,
    )
