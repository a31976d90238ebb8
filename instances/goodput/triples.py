"""Triples: jobs with a single useful GPU count, in groups of three that fill or slightly exceed a node."""

from random import Random

from gsopt.core.errors import require
from gsopt.core.problem import About
from gsopt.problems.goodput import Goodput, GoodputJob
from instances.arguments import at_least
from instances.triplets import LEAST_CAPACITY, triplets

#: Smallest and largest speed-up of a job.
_SPEEDUP = (0.5, 2.0)

#: Seconds since the jobs were submitted.
_AGE = 3600.0


def triples(*, nodes: int = 40, gpus_per_node: int = 128, excess: int = 1, seed: int = 0) -> Goodput:
    """Generate groups of three waiting jobs that fill or slightly exceed a node, one group for each node.

    Each job runs on one node, and makes no progress on fewer GPUs than its size, which is more than a quarter
    and less than half of a node. Its speed-up is drawn, so that it matters which job waits.

    Source: sizes as in `instances.triplets.triplets`.

    Parameters
    ----------
    nodes, gpus_per_node
        Number of nodes, and number of GPUs per node.
    excess
        Number of GPUs by which the three jobs of a group exceed a node, at most 3.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = triples(nodes=2, gpus_per_node=16, excess=0, seed=1)
    >>> len(problem.jobs), sum(job.max_gpus for job in problem.jobs), problem.total
    (6, 32, 32)
    """
    at_least(1, nodes=nodes)
    rule = f"must be at least {LEAST_CAPACITY}"
    require(gpus_per_node >= LEAST_CAPACITY, "gpus_per_node", gpus_per_node, rule)
    random = Random(seed)
    sizes = triplets(random, bins=nodes, capacity=gpus_per_node, excess=excess)
    return Goodput(
        name="triples",
        about=About(source=f"triples, {excess} GPUs too many for each node", seed=seed),
        nodes=[gpus_per_node] * nodes,
        jobs=[_job(f"j{number}", size, random) for number, size in enumerate(sizes, start=1)],
    )


def _job(name: str, size: int, random: Random) -> GoodputJob:
    speedups = [[0.0] * (size - 1) + [round(random.uniform(*_SPEEDUP), 2)]]
    return GoodputJob(name=name, speedups=speedups, age=_AGE, max_gpus=size)
