"""Churn: a cluster after jobs have arrived and departed for a while."""

from collections.abc import Iterator
from random import Random
from typing import Literal, get_args

from gsopt.core.errors import require, require_one_of
from gsopt.core.problem import About
from gsopt.problems.reclaiming import Job, Reclaiming
from instances.arguments import at_least, fractions
from instances.reclaiming.best_fit import BestFit
from instances.reclaiming.layout import Placement, eight_gpu_servers, named
from instances.reclaiming.workers import Mode, draw_worker_size, split

Elasticity = Literal["tagged", "fungible"]

#: Percentage of jobs by number of GPUs.
_GPUS = {1: 38, 2: 14, 4: 14, 8: 18, 16: 9, 32: 5, 64: 2}

#: Departures alternate with arrivals; after eight rounds of 40 %, the jobs have been replaced three times over.
_TURNS = 8
_DEPARTING = 0.4

_SMALLEST_ELASTIC = 4
_CHEAPEST, _COSTLIEST, _CHEAPEST_SHARE = 1, 1000, 0.4


def churn(
    *,
    servers: int = 520,
    demand: int = 60,
    utilisation: float = 0.95,
    mode: Mode = "packed",
    elastic_share: float = 0.0,
    elasticity: Elasticity = "tagged",
    weighted: bool = False,
    seed: int = 0,
) -> Reclaiming:
    """Generate a cluster of eight-GPU servers after jobs have arrived and departed for a while.

    Jobs have 1 to 64 GPUs, distributed as on production clusters. No job is larger than the cluster. Workers
    are placed by best fit. A job that does not fit waits, and later jobs may pass it. Costs and flexible
    workers are drawn after the jobs are placed, so the placement does not depend on them.

    Parameters
    ----------
    servers, demand
        Number of servers, and number of servers to return.
    utilisation
        Smallest share of GPUs in use, above 0 and at most 1. Jobs arrive until this share is reached.
    mode
        ``packed``: the workers of a job have 8 GPUs each; a job with fewer GPUs has one worker. ``worker``: the
        number of GPUs per worker is drawn for each job from 1, 2, 4 and 8, which scatters large jobs over
        many servers. ``mixed``: 80 % of the jobs are as in ``packed``, and the others as in ``worker``.
    elastic_share
        Probability that a job with 4 GPUs or more is elastic. Half of the GPUs of an elastic job are flexible.
    elasticity
        As in `gsopt.problems.reclaiming.Reclaiming`.
    weighted
        Whether to draw costs: 1 for 40 % of the jobs, and 2 to 1000 for the others. Otherwise every job has a
        cost of 1.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = churn(servers=20, demand=4, mode="mixed", seed=1)
    >>> problem.demand, 0.95 <= sum(job.gpus for job in problem.jobs) / 160 <= 1
    (4, True)
    """
    at_least(1, servers=servers)
    fractions(elastic_share=elastic_share)
    require(0 <= demand <= servers, "demand", demand, f"must be between 0 and the {servers} servers")
    require(0 < utilisation <= 1, "utilisation", utilisation, "must be more than 0 and at most 1")
    require_one_of("mode", mode, get_args(Mode))
    require_one_of("elasticity", elasticity, get_args(Elasticity))
    random = Random(seed)
    placements = _churned(servers, utilisation, mode, random)
    jobs = tuple(
        _job(f"j{number}", placement, elastic_share, weighted, random)
        for number, placement in enumerate(placements, start=1)
    )
    return Reclaiming(
        name=f"churn-{mode}-{servers}-{demand}-{seed}",
        about=About(source=f"churn of jobs by best fit, mode {mode}, utilisation {utilisation:g}", seed=seed),
        demand=demand,
        servers=eight_gpu_servers(servers),
        jobs=jobs,
        elasticity=elasticity,
    )


def _churned(servers: int, utilisation: float, mode: Mode, random: Random) -> list[Placement]:
    """Fill the cluster, then repeatedly let jobs depart and others arrive."""
    cluster = BestFit(servers)
    capacity = cluster.free_gpus
    most_free = (1 - utilisation) * capacity
    arrivals = _arrivals(capacity, mode, random)
    running: list[Placement] = []
    waiting: list[list[int]] = []
    for turn in range(_TURNS + 1):
        if turn > 0:
            running = _remaining(cluster, running, random)
        queue, waiting = iter(waiting), []
        while cluster.free_gpus > most_free:
            workers = next(queue, None) or next(arrivals)
            placement = cluster.place(workers)
            if placement is None:
                waiting.append(workers)
            else:
                running.append(placement)
        waiting += queue
    return running


def _arrivals(capacity: int, mode: Mode, random: Random) -> Iterator[list[int]]:
    """Yield the workers of one random job after another, none larger than the cluster."""
    sizes = {gpus: weight for gpus, weight in _GPUS.items() if gpus <= capacity}
    while True:
        (gpus,) = random.choices(list(sizes), list(sizes.values()))
        yield split(gpus, draw_worker_size(gpus, mode, random))


def _remaining(cluster: BestFit, running: list[Placement], random: Random) -> list[Placement]:
    """Remove each job with the same probability, and return the jobs that remain."""
    remaining: list[Placement] = []
    for placement in running:
        if random.random() < _DEPARTING:
            cluster.release(placement)
        else:
            remaining.append(placement)
    return remaining


def _job(name: str, placement: Placement, elastic_share: float, weighted: bool, random: Random) -> Job:
    elastic = random.random() < elastic_share and sum(placement.values()) >= _SMALLEST_ELASTIC
    base, flexible = _halves(placement) if elastic else (placement, {})
    return Job(
        name=name,
        workers=named(base),
        flexible=named(flexible),
        cost=_cost(random) if weighted else 1,
    )


def _halves(placement: Placement) -> tuple[Placement, Placement]:
    """Split a placement into base and flexible GPUs; the half that was placed first is the base."""
    base: dict[int, int] = {}
    needed = sum(placement.values()) // 2
    for server, gpus in placement.items():
        taken = min(gpus, needed)
        if taken:
            base[server] = taken
        needed -= taken
    flexible = {server: gpus - base.get(server, 0) for server, gpus in placement.items()}
    return base, {server: gpus for server, gpus in flexible.items() if gpus}


def _cost(random: Random) -> int:
    return _CHEAPEST if random.random() < _CHEAPEST_SHARE else random.randint(_CHEAPEST + 1, _COSTLIEST)
