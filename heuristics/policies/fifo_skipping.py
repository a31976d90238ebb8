"""FIFO skipping: first in, first out, where jobs that do not fit are skipped."""

from gsopt.simulation import Decider, State
from gsopt.simulation.parts.skipping import Skipping


def fifo_skipping(state: State) -> Decider:
    """Start jobs in the order of their release. A job that does not fit is skipped.

    Unlike backfilling, this reserves no GPUs for a skipped job, so large jobs may starve.

    Source: list scheduling of rigid jobs, called "first fit" in Feitelson, Rudolph and Schwiegelshohn,
    "Parallel job scheduling - a status report" (2004). Key: release date. Ties: lower job number. Not
    preemptive. O(distinct demands) per start.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [Job(name=str(i), release_date=0, duration=1, gpus=gpus) for i, gpus in enumerate([1, 2, 1])]
    >>> simulate(Workload(jobs=jobs), fifo_skipping, cluster=2).completion_times
    (1.0, 2.0, 1.0)
    """
    return Skipping(state, key=lambda job: job)
