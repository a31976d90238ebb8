"""AlloX as Sia and Ares compare with it: in rounds, with every job counted as one GPU."""

from gsopt.core.errors import number_of, require
from gsopt.simulation import Decider, State
from gsopt.simulation.interval import require_interval
from heuristics.policies.allox.reserved import Reserved
from heuristics.policies.gavel.rounds import Rounds


def allox_port(state: State, *, alpha: float = 1.0, interval: float = 360) -> Decider:
    """Let jobs hold GPUs in the order of `allox`, as if each demanded one; what does not fit is skipped.

    Source: the port of Gavel's AlloX in the simulators of Sia (SOSP 2023) and Ares. AlloX is for jobs of one
    GPU; the port orders all jobs as if they were, so more come first than fit, and these take turns in Gavel's
    rounds (`heuristics.policies.gavel.rounds`, form ``port``). The orders are computed in every round, for the
    jobs that hold nothing yet and as many GPUs of each kind as are not counted for any job.

    With Sia's scenario of 12 jobs on four nodes every job completes in the second in which it does in its
    authors' simulator.

    Key: whether a job comes or came first, over the part of all time that it has had. Ties: lower number.
    Preemptive, at the beginning of rounds. Durations are known. O(n^2 m K) per round, like `allox`.

    Parameters
    ----------
    alpha
        Part of the jobs that have not come first, the oldest, that are ordered.
    interval
        Seconds of a round.

    Raises
    ------
    InvalidInput
        An option is out of its range.
    Unsupported
        A job demands more GPUs than there are of any kind.

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
