"""AlloX port: the baseline of Sia and Ares, which runs in rounds and counts every job as one GPU."""

from gsopt.core.errors import number_of, require
from gsopt.simulation import Decider, State
from gsopt.simulation.interval import require_interval
from heuristics.policies.allox.reserved import Reserved
from heuristics.policies.gavel.rounds import Rounds


def allox_port(state: State, *, alpha: float = 1.0, interval: float = 360) -> Decider:
    """Order jobs as AlloX does, as if each demanded one GPU, and let those that come first take turns.

    In every round, the unassigned jobs are ordered on the GPUs to which no job is assigned. A job that comes
    first on a GPU is assigned to it until the job completes, however many GPUs the job demands. Jobs that do
    not fit in a round are skipped.

    Source: the port of Gavel's AlloX in the simulators of Sia (SOSP 2023) and Ares, with Gavel's rounds
    (`heuristics.policies.gavel.rounds`, form ``port``).

    Key of a job on a kind of GPU, largest first: a / f. Here, a is 1 if the job is assigned to this kind, and
    otherwise 0; f is the job's fraction of all jobs' time on this kind, with half a round credited to each job.
    Ties: lower job number. Preemptive, at the beginning of rounds. Knows durations. O(n^2 m K) per round if n
    jobs are ordered on m GPUs with at most K jobs each.

    Parameters
    ----------
    alpha
        Fraction of the unassigned jobs that is ordered, oldest jobs first; above 0 and at most 1. At least as
        many jobs are ordered as there are GPUs to which no job is assigned.
    interval
        Length of a round, in seconds.

    Raises
    ------
    InvalidInput
        An option is out of range.
    Unsupported
        A job demands more GPUs than there are of any kind on which it can run.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=2) for n, d in [("a", 540), ("b", 360)]]
    >>> simulate(Workload(jobs=jobs), allox_port, cluster=2).completion_times
    (900.0, 720.0)
    """
    require(0 < number_of(alpha) <= 1, "alpha", alpha, "must be above 0 and at most 1")
    require_interval("interval", interval)
    return Rounds(state, Reserved(alpha, gangs=True), form="port", interval=interval)
