"""Random order: a policy that starts waiting jobs in random order."""

from random import Random

from gsopt.simulation import Decider, State
from gsopt.simulation.parts.skipping import Skipping


def random_order(state: State, *, seed: int = 0) -> Decider:
    """Start waiting jobs in random order, skipping jobs that do not fit.

    Source: none; a baseline for comparisons. Key: a random number, drawn each time the job begins to wait.
    Ties: lower job number. Not preemptive.

    Parameters
    ----------
    seed
        Seed of the random numbers.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [Job(name=str(i), release_date=0, duration=1, gpus=1) for i in range(3)]
    >>> sorted(simulate(Workload(jobs=jobs), random_order, cluster=1, seed=1).completion_times)
    [1.0, 2.0, 3.0]
    """
    draw = Random(seed)
    return Skipping(state, key=lambda job: (draw.random(), job))
