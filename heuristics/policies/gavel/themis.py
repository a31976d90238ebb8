"""Themis: finish-time fairness in Gavel's rounds, as in the baseline of other papers."""

from collections.abc import Mapping
from typing import TypedDict, Unpack

from gsopt.core.method import MethodLike
from gsopt.simulation import Decider, State
from heuristics.policies.gavel.gavel import gavel
from heuristics.policies.gavel.rounds import Form
from heuristics.policies.gavel.time_shares import Isolated


class RoundOptions(TypedDict, total=False):
    """The options of `gavel` other than its objective."""

    shares: MethodLike | str
    rounds: Form
    interval: float
    renewal: float
    isolated: Isolated | None
    restart: float | Mapping[str, float]


def themis(state: State, **options: Unpack[RoundOptions]) -> Decider:
    """Grant jobs the shares of time that minimize the largest finish-time ratio.

    A job's ratio is its expected completion time divided by its completion time with isolated shares, i.e. an
    equal part of all GPUs. Both times are counted from the job's release. This is `gavel` with the objective
    ``finish_time``, like the baseline "Themis" in the evaluations of Gavel, Sia and Ares. Themis itself
    auctions GPUs; see `themis_auction`.

    Source: Themis (NSDI 2020), section 4, and Gavel (OSDI 2020), section 4.2, policy
    ``finish_time_fairness_perf``. The key, ties, readings, departures and complexity are those of `gavel`, and
    so are the options; only `objective` is fixed. Preemptive at the beginning of rounds.

    Raises
    ------
    InvalidInput
        An option is out of range, or the method is unknown.
    Unsupported
        A job demands more GPUs than there are of any kind on which it can run.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 720), ("b", 360)]]
    >>> simulate(Workload(jobs=jobs), themis, cluster=1).completion_times
    (1080.0, 720.0)
    """
    return gavel(state, objective="finish_time", **options)
