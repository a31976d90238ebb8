"""Triples: jobs of fixed size in groups of three that fill or slightly exceed a pool of GPUs."""

from random import Random

from gsopt.core.errors import require
from gsopt.core.problem import About
from gsopt.problems.configuration import AdaptiveJob, Configuration, Shape
from instances.arguments import at_least
from instances.triplets import LEAST_CAPACITY, triplets

#: Smallest and largest goodput of a job.
_GOODPUT = (1.0, 4.0)


def triples(*, pools: int = 30, gpus: int = 48, excess: int = 1, seed: int = 0) -> Configuration:
    """Generate groups of three waiting jobs that fill or slightly exceed a pool, one group for each pool.

    Each job needs a fixed number of GPUs, more than a quarter and less than half of a pool, and is equally fast
    in every pool. The goodput of each job is drawn, so that it matters which job waits. Pools are modelled as
    GPU types.

    Source: sizes as in `instances.triplets.triplets`.

    Parameters
    ----------
    pools, gpus
        Number of pools, and number of GPUs in each.
    excess
        Number of GPUs by which the three jobs of a group exceed a pool, at most 3.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = triples(pools=2, gpus=16, excess=0, seed=1)
    >>> len(problem.jobs), problem.gpus
    (6, {'pool 1': 16, 'pool 2': 16})
    """
    at_least(1, pools=pools)
    require(gpus >= LEAST_CAPACITY, "gpus", gpus, f"must be at least {LEAST_CAPACITY}")
    random = Random(seed)
    sizes = triplets(random, bins=pools, capacity=gpus, excess=excess)
    names = [f"pool {number}" for number in range(1, pools + 1)]
    listed = [Shape(type=name, gpus=size) for name in names for size in sorted(set(sizes))]
    return Configuration(
        name="triples",
        about=About(source=f"triples, {excess} GPUs too many for each pool", seed=seed),
        gpus=dict.fromkeys(names, gpus),
        configurations=listed,
        jobs=[_job(f"j{number}", size, listed, random) for number, size in enumerate(sizes, start=1)],
    )


def _job(name: str, size: int, listed: list[Shape], random: Random) -> AdaptiveJob:
    goodput = round(random.uniform(*_GOODPUT), 2)
    return AdaptiveJob(name=name, goodputs=[goodput if shape.gpus == size else None for shape in listed])
