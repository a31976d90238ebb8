"""Elastic: inelastic and elastic jobs that should stand on training and on inference servers."""

from collections.abc import Iterator
from random import Random

from gsopt.core.errors import require
from gsopt.core.problem import About
from gsopt.problems.placement import Placement, Resources, Workers
from instances.placement.clusters import INFERENCE, TRAINING, check_cluster, cluster
from instances.placement.objectives import Minimize, check_objective

#: What the worker of a job needs, and how many jobs of a hundred have such workers.
_WORKERS = {
    (1, 8, 24): 15,
    (1, 12, 40): 10,
    (2, 16, 50): 20,
    (4, 30, 100): 25,
    (4, 44, 90): 10,
    (8, 60, 200): 12,
    (8, 92, 210): 8,
}

#: Workers of an inelastic job, and base and flexible workers of an elastic one.
_INELASTIC, _BASE, _FLEXIBLE = (1, 8), (1, 4), (0, 4)


def elastic(
    *,
    jobs: int = 420,
    elastic_share: float = 0.5,
    training: int = TRAINING,
    inference: int = INFERENCE,
    occupied: float = 0.0,
    split_jobs: bool = False,
    minimize: Minimize = "preferences",
    seed: int = 0,
) -> Placement:
    """Generate inelastic jobs of 1 to 8 workers and elastic ones of 1 to 4 base and 0 to 4 flexible workers.

    All workers of a job need the same, one of seven vectors of 1 to 8 GPUs with CPU and memory.

    Parameters
    ----------
    jobs
        Number of jobs.
    elastic_share
        Share of the jobs that are elastic.
    training, inference
        Number of servers with 8 GPUs, 92 cores and 350 or 210 GB.
    occupied
        Share of the servers that are partly used.
    split_jobs
        Whether a job may stand in both pools.
    minimize
        What is minimized.
    seed
        Seed of all random draws.

    Raises
    ------
    InvalidInput
        An argument is out of its range.

    Examples
    --------
    >>> problem = elastic(jobs=3, seed=2)
    >>> [(line.job, line.kind, line.count) for line in problem.workers[:3]]
    [('j1', 'inelastic', 1), ('j2', 'base', 2), ('j2', 'flexible', 2)]
    """
    require(jobs >= 0, "jobs", jobs, "must be at least 0")
    require(0 <= elastic_share <= 1, "elastic_share", elastic_share, "must be between 0 and 1")
    check_cluster(training, inference, occupied)
    check_objective(minimize)
    random = Random(seed)
    lines = [line for number in range(1, jobs + 1) for line in _job(f"j{number}", elastic_share, random)]
    return Placement(
        name=f"elastic-{jobs}-{seed}",
        about=About(source=f"random jobs, {elastic_share:g} elastic, {occupied:g} occupied", seed=seed),
        minimize=minimize,
        split_jobs=split_jobs,
        servers=cluster(training, inference, occupied=occupied, random=random),
        workers=tuple(lines),
    )


def _job(name: str, elastic_share: float, random: Random) -> Iterator[Workers]:
    gpu, cpu, memory = random.choices(list(_WORKERS), weights=list(_WORKERS.values()))[0]
    demand = Resources(gpu=gpu, cpu=cpu, memory=memory)
    if random.random() >= elastic_share:
        yield Workers(job=name, count=random.randint(*_INELASTIC), demand=demand)
        return
    yield Workers(job=name, count=random.randint(*_BASE), demand=demand, kind="base")
    flexible = random.randint(*_FLEXIBLE)
    if flexible:
        yield Workers(job=name, count=flexible, demand=demand, kind="flexible")
