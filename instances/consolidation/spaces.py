"""Spaces: finite sets of small consolidation problems for `gsopt.worst`."""

from collections.abc import Sequence
from itertools import combinations_with_replacement, product

from gsopt.evaluation.space import Setting, Space
from gsopt.problems.consolidation import Consolidation, Job
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.speed import TierPenalty
from instances.arguments import at_least

__all__ = ["tiny"]

#: Penalties of two models: one hardly communicates, the other mostly does.
_PENALTIES = {
    "light": TierPenalty(machine=0, rack=0.1, network=0.25),
    "heavy": TierPenalty(machine=0, rack=1, network=9),
}


def tiny(*, jobs: int = 3, machines: int = 2, gpus: int = 2) -> Space:
    """Return the space of all problems with a few jobs on two racks of partly busy machines.

    Each job has one of two models: one hardly communicates, the other mostly does.

    Parameters
    ----------
    jobs
        Largest number of jobs.
    machines
        Number of machines in each rack.
    gpus
        Number of GPUs per machine; any number of them may be busy.

    Examples
    --------
    >>> tiny(jobs=1, machines=1, gpus=1).size
    12
    """
    at_least(1, jobs=jobs, machines=machines, gpus=gpus)
    about = f"at most {jobs} jobs of two models on two racks of {machines} machines with {gpus} GPUs each"
    cluster = Cluster.uniform(racks=2, machines=machines, gpus=gpus)
    rack = [*combinations_with_replacement(range(gpus + 1), machines)]
    settings = [
        _setting(cluster, gpus, (*one, *other)) for one, other in combinations_with_replacement(rack, 2)
    ]
    return Space("consolidation", about, tuple(settings), jobs)


def _setting(cluster: Cluster, gpus: int, taken: Sequence[int]) -> Setting:
    """Return the problems in which each machine has the given number of busy GPUs."""
    busy = [machine * gpus + gpu for machine, count in enumerate(taken) for gpu in range(count)]

    def make(chosen: Sequence[tuple[int, str]]) -> Consolidation:
        jobs = [Job(name=f"j{place}", gpus=width, model=model) for place, (width, model) in enumerate(chosen)]
        return Consolidation(cluster=cluster, busy=busy, jobs=jobs, penalties=_PENALTIES)

    return Setting(tuple(product(range(1, cluster.gpus + 1), _PENALTIES)), make)
