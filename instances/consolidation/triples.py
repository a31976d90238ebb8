"""Triples: jobs in groups of three that fill or slightly exceed a rack."""

from random import Random

from gsopt.core.errors import require
from gsopt.core.problem import About
from gsopt.problems.consolidation import Consolidation, Job
from gsopt.scenario.cluster import Cluster
from instances.arguments import at_least
from instances.triplets import LEAST_CAPACITY, triplets

#: Models that lose more speed the further apart their GPUs are.
_MODELS = ("mobilenetv3", "resnet18", "alexnet")


def triples(
    *, racks: int = 20, machines: int = 8, gpus: int = 8, excess: int = 1, seed: int = 0
) -> Consolidation:
    """Generate groups of three jobs that fill or slightly exceed a rack, one for each rack of an empty cluster.

    Each job needs more than a quarter and less than half of a rack. Without excess, all jobs fit into racks if
    the right groups of three are found. With an excess, the jobs together need more GPUs than the cluster has.
    A job whose GPUs are in different racks loses half or almost all of its speed, depending on its model.

    Source: sizes as in `instances.triplets.triplets`, with racks as bins.

    Parameters
    ----------
    racks, machines, gpus
        Number of racks, of machines per rack, and of GPUs per machine.
    excess
        Number of GPUs by which the three jobs of a group exceed a rack, at most 3.
    seed
        Seed of all random draws.

    Examples
    --------
    >>> problem = triples(racks=2, machines=2, gpus=8, excess=0, seed=1)
    >>> sum(job.gpus for job in problem.jobs), problem.cluster.gpus
    (32, 32)
    """
    at_least(1, racks=racks, machines=machines, gpus=gpus)
    rule = f"must have {LEAST_CAPACITY} GPUs in all, or more"
    require(machines * gpus >= LEAST_CAPACITY, "machines", machines, rule)
    random = Random(seed)
    sizes = triplets(random, bins=racks, capacity=machines * gpus, excess=excess)
    return Consolidation(
        name="triples",
        about=About(source=f"triples, {excess} GPUs too many for each rack", seed=seed),
        cluster=Cluster.uniform(racks=racks, machines=machines, gpus=gpus),
        jobs=[
            Job(name=f"j{number}", gpus=size, model=random.choice(_MODELS))
            for number, size in enumerate(sizes, start=1)
        ],
    )
