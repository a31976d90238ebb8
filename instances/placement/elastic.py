"""Elastic: generated inelastic and elastic jobs, which prefer training or inference servers."""

from collections.abc import Iterator
from random import Random
from typing import get_args

from gsopt.core.errors import require_one_of
from gsopt.core.problem import About
from gsopt.problems.placement import Placement, Resources, Workers
from instances.arguments import at_least, fractions
from instances.placement.clusters import INFERENCE, TRAINING, Minimize, check_cluster, cluster

#: GPUs, cores and GB that one worker needs, with the percentage of jobs that have such workers.
_WORKERS = {
    (1, 8, 24): 15,
    (1, 12, 40): 10,
    (2, 16, 50): 20,
    (4, 30, 100): 25,
    (4, 44, 90): 10,
    (8, 60, 200): 12,
    (8, 92, 210): 8,
}

#: Ranges of the number of workers of inelastic jobs, and of base and flexible workers of elastic jobs.
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
    """Generate inelastic jobs of 1 to 8 workers, and elastic jobs of 1 to 4 base and 0 to 4 flexible workers.

    All workers of a job have the same demand, which is one of seven combinations of 1 to 8 GPUs, CPU and
    memory.

    Parameters
    ----------
    jobs
        Number of jobs.
    elastic_share
        Probability that a job is elastic.
    training, inference
        Number of training servers and of inference servers. Each has 8 GPUs, 92 cores, and 350 GB (training) or
        210 GB (inference).
    occupied
        Share of the servers that are partly in use.
    split_jobs
        Whether a job may use training servers and inference servers at the same time.
    minimize
        The objective, as in `gsopt.problems.placement.Placement`.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = elastic(jobs=3, seed=2)
    >>> [(line.job, line.kind, line.count) for line in problem.workers[:3]]
    [('j1', 'inelastic', 1), ('j2', 'base', 2), ('j2', 'flexible', 2)]
    """
    at_least(0, jobs=jobs)
    fractions(elastic_share=elastic_share)
    check_cluster(training, inference, occupied)
    require_one_of("minimize", minimize, get_args(Minimize))
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
