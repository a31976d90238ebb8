"""Epochs to try schedulers on, and what holds of every answer."""

from collections.abc import Callable, Sequence
from random import Random

from heuristics.policies.aryl.epoch import Elastic, Epoch, Pool, Scheduler, Waiting
from tests.effort import cases


def linear(
    job: int,
    time: float,
    *,
    base: int = 1,
    most: int = 4,
    gpus: int = 1,
    extra: int = 0,
    pool: Pool = "training",
) -> Elastic:
    """Return a job whose speed is its number of workers."""
    speeds = tuple(float(workers) for workers in range(base, most + 1))
    return Elastic(job, time, gpus, base, most, extra, pool, speeds)


def calm(*jobs: Elastic, training: int = 0, inference: int = 0) -> Epoch:
    """Return an epoch in which no job waits."""
    return Epoch(0.0, (), jobs, {"training": training, "inference": inference}, pending=False)


def crowded(waiting: Sequence[Waiting], *jobs: Elastic, training: int = 0) -> Epoch:
    """Return an epoch in which jobs wait."""
    return Epoch(0.0, tuple(waiting), jobs, {"training": training, "inference": 0}, pending=True)


def drawn(seed: int) -> Epoch:
    """Draw an epoch: all pools, workers of several sizes, menus with gaps, and speeds that fall at the end."""
    random = Random(seed)
    elastic = tuple(_elastic(random, job) for job in range(random.randint(0, 9)))
    waiting = []
    for job in range(10, 10 + random.randint(0, 5)):
        later = _elastic(random, job)._replace(extra=0) if random.random() < 0.5 else None
        gpus = later.base * later.worker_gpus if later else random.randint(1, 8)
        waiting.append(
            Waiting(job, float(job), later.time if later else float(random.randint(1, 99)), gpus, later)
        )
    idle = {"training": random.randint(0, 12), "inference": random.randint(0, 6)}
    return Epoch(float(random.randint(0, 99)), tuple(waiting), elastic, idle, pending=bool(waiting))


def _elastic(random: Random, job: int) -> Elastic:
    base, more = random.randint(1, 3), random.randint(1, 5)
    speeds = [float(base)]
    for _ in range(more):
        speeds.append(max(speeds) + random.choice([1.0, 1.0, 0.5, -0.25]))
    speeds[1:] = [0.0 if random.random() < 0.2 else speed for speed in speeds[1:-1]] + speeds[-1:]
    pool: Pool = random.choice(["training", "training", "inference", "mixed"])
    extra = random.choice([0, *(w for w in range(1, more + 1) if speeds[w] > 0)])
    time = float(random.randint(1, 99))
    return Elastic(job, time, random.choice([1, 1, 2, 4]), base, base + more, extra, pool, tuple(speeds))


def assert_legal(epoch: Epoch, scheduler: Scheduler) -> None:
    """Assert that who starts waits, and that flexible workers are allowed and fit into their pools."""
    order = scheduler.order(epoch)
    assert len(set(order)) == len(order)
    assert set(order) <= {job.job for job in epoch.waiting}
    extras = scheduler.extras(epoch)
    assert set(extras) <= {job.job for job in epoch.elastic}
    held = {"training": 0, "inference": 0, "mixed": 0}
    room = dict(epoch.idle) | {"mixed": 0}
    for job in epoch.elastic:
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
        epoch = drawn(seed)
        assert_legal(epoch, make())
        one, other = make(), make()
        assert one.order(epoch) == other.order(epoch)
        assert one.extras(epoch) == other.extras(epoch)
