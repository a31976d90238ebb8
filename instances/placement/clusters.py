"""Clusters: the servers of generated instances, with the capacities of the servers in Aryl's clusters."""

from collections import Counter
from random import Random
from typing import Literal

from gsopt.core.errors import require
from gsopt.problems.placement import Pool, Resources, Server
from instances.arguments import at_least, fractions

#: Objectives of generated instances.
Minimize = Literal["servers", "fragmentation", "preferences"]

#: GPUs, CPU cores and GB of memory of a server in each pool.
CAPACITY: dict[Pool, Resources] = {
    "training": Resources(gpu=8, cpu=92, memory=350),
    "inference": Resources(gpu=8, cpu=92, memory=210),
}

#: Numbers of servers in Aryl's training and inference clusters.
TRAINING, INFERENCE = 443, 520


def check_cluster(training: int, inference: int, occupied: float) -> None:
    """Raise `InvalidInput` if there is no server, a number is negative, or `occupied` is above 1."""
    at_least(0, training=training, inference=inference)
    fractions(occupied=occupied)
    require(training + inference >= 1, "training", training, "must be at least 1 together with inference")


def cluster(
    training: int, inference: int, *, occupied: float = 0.0, random: Random | None = None
) -> tuple[Server, ...]:
    """Create training and inference servers.

    `occupied` is the share of servers on which 1 to 7 GPUs are in use, with CPU and memory for each of these
    GPUs.
    """
    draw = random or Random(0)
    servers: list[Server] = []
    pools: dict[Pool, int] = {"training": training, "inference": inference}
    for pool, count in pools.items():
        busy = Counter(_used(pool, draw) for _ in range(round(occupied * count)))
        for number, (used, alike) in enumerate(sorted(busy.items()), start=1):
            gpu, cpu, memory = used
            servers.append(
                Server(
                    name=f"{pool[0]}{number}",
                    pool=pool,
                    count=alike,
                    capacity=CAPACITY[pool],
                    used=Resources(gpu=gpu, cpu=cpu, memory=memory),
                )
            )
        idle = count - busy.total()
        if idle:
            servers.append(Server(name=pool[0], pool=pool, count=idle, capacity=CAPACITY[pool]))
    return tuple(servers)


def _used(pool: Pool, random: Random) -> tuple[int, int, int]:
    gpus = random.randint(1, 7)
    capacity = CAPACITY[pool]
    return gpus, random.choice((4, 8, 11)) * gpus, random.choice((10, 20, 25)) * gpus * capacity.memory // 210
