"""Tiny placement problems of every variant, small enough to enumerate."""

from collections.abc import Sequence
from random import Random
from typing import Any, Literal

from hypothesis import strategies as st

from gsopt.core.problem import Problem
from gsopt.evaluation.catalogue import load
from gsopt.problems.placement import Placement, Resources, Server, Workers

Minimize = Literal["servers", "fragmentation", "preferences", "racks"]

#: The objectives that every exact method but `racks` has.
OBJECTIVES: tuple[Minimize, ...] = ("servers", "fragmentation", "preferences")


def tiny(seed: int, *, minimize: Sequence[Minimize] = OBJECTIVES, whole_gpus: bool = False) -> Placement:
    """Draw up to 6 workers of up to 5 lines for 2 to 4 servers of both pools, some of them partly used.

    About one in three needs GPUs only, about one in three keeps jobs together, and about one in four cannot be
    solved.

    Parameters
    ----------
    seed
        Seed of all draws.
    minimize
        Objectives to draw from.
    whole_gpus
        Draw only workers that need nothing but GPUs.
    """
    random = Random(seed)
    only_gpus = whole_gpus or random.random() < 0.3

    def resources(gpu: int, cpu: int, memory: int) -> Resources:
        return Resources(gpu=gpu) if only_gpus else Resources(gpu=gpu, cpu=cpu, memory=memory)

    def demand() -> Resources:
        return resources(random.randint(int(only_gpus), 4), random.randint(1, 6), random.randint(0, 6))

    servers: list[Server] = []
    left = random.randint(2, 4)
    while left:
        count = random.randint(1, min(2, left))
        left -= count
        gpu, cpu, memory = random.choice((4, 8, 8)), random.randint(8, 20), random.randint(8, 20)
        busy = random.random() < 0.4
        used = (random.randint(0, gpu), random.randint(0, cpu // 2), random.randint(0, memory // 2))
        servers.append(
            Server(
                name=f"s{len(servers)}",
                count=count,
                pool=random.choice(("training", "inference")),
                capacity=resources(gpu, cpu, memory),
                used=resources(*used) if busy else Resources(),
            )
        )
    lines: list[Workers] = []
    left = random.randint(1, 6)
    while left:
        count = random.randint(1, min(3, left))
        left -= count
        job, need, elastic = f"j{len(lines)}", demand(), random.random() < 0.6
        lines.append(Workers(job=job, count=count, demand=need, kind="base" if elastic else "inelastic"))
        if elastic and left and random.random() < 0.7:
            count = random.randint(1, min(2, left))
            left -= count
            lines.append(Workers(job=job, count=count, demand=need, kind="flexible"))
    chosen, split_jobs = random.choice(minimize), random.random() < 0.6
    if chosen == "racks":
        servers = [server.model_copy(update={"rack": random.choice("xyz")}) for server in servers]
    return Placement(
        name=f"seed {seed}",
        servers=tuple(servers),
        workers=tuple(lines),
        minimize=chosen,
        split_jobs=split_jobs,
    )


def placements(*, minimize: Sequence[Minimize] = OBJECTIVES) -> st.SearchStrategy[Placement]:
    """Draw tiny problems."""
    return st.integers(0, 1_000_000).map(lambda seed: tiny(seed, minimize=minimize))


def committed(name: str) -> Placement:
    """Load a committed instance of this decision."""
    problem: Problem[Any] = load(f"placement/{name}")
    assert isinstance(problem, Placement)
    return problem


def gpu_line(*sizes: int, gpus: int = 8, servers: int = 0) -> Placement:
    """Return workers that need these GPUs, and servers alike; by default one per worker."""
    return Placement(
        servers=(Server(name="s", count=servers or max(len(sizes), 1), capacity=Resources(gpu=gpus)),),
        workers=tuple(Workers(job=f"j{index}", demand=Resources(gpu=size)) for index, size in enumerate(sizes)),
    )


def tiny_vectors(seed: int) -> Placement:
    """Draw 2 to 8 workers that need 1 to 5 resources, and up to 4 servers of one or two kinds."""
    random = Random(seed)
    names = ("gpu", "cpu", "memory", "disk", "network")[: random.randint(1, 5)]

    def amounts(least: int, most: int) -> Resources:
        return Resources(**{name: random.randint(least, most) for name in names})

    kinds = random.randint(1, 2)
    return Placement(
        name=f"vectors {seed}",
        servers=tuple(
            Server(name=f"s{kind}", count=random.randint(1, 4 // kinds), capacity=amounts(600, 1000))
            for kind in range(kinds)
        ),
        workers=tuple(
            Workers(job=f"j{index}", count=random.choice((1, 1, 2)), demand=amounts(1, 600))
            for index in range(random.randint(2, 4))
        ),
    )
