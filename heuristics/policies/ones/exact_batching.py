"""Exact batching: a policy that solves ONES' decision at every event, by default to proven optimality."""

from collections.abc import Callable
from math import inf
from typing import get_args

from gsopt.core.errors import number_of, require, require_one_of
from gsopt.core.result import Result
from gsopt.evaluation.catalogue import find_method
from gsopt.problems.batching import Batches, Batching
from gsopt.simulation import Decider, State
from heuristics.policies.ones.decision import BatchingDecision, Caps, Criterion
from heuristics.policies.ones.dividing import Dividing, Forced

#: A method of the decision `batching`.
Solver = Callable[[Batching], Result[Batches]]


def exact_batching(
    state: State,
    *,
    criterion: Criterion = "rate",
    forced: Forced = "all",
    caps: Caps = "convergence",
    reconfiguration: float = 0.0,
    solver: Solver | str | None = None,
) -> Decider:
    """Solve the decision `gsopt.problems.batching.Batching` at every event, and apply the solution immediately.

    Each job runs in its fastest mode on the GPUs that it gets, with the batch size of that mode. Jobs without
    batch sizes take part with their allowed numbers of GPUs.

    This is the reference for ONES' search. Comparisons include the policy only if it is named by its path:
    ``heuristics.policies.ones:exact_batching``.

    Source: ONES, section 3.2.1, Equations 3-5, with the criteria of `Batching`. Key: the criterion, summed over
    running jobs. Ties: by default, as in `gsopt.performance.batching.split`. Preemptive at every event;
    resizes; knows durations. O(J G C) per event for J jobs, G GPUs and caps of at most C GPUs.

    Parameters
    ----------
    criterion
        ``sruf`` minimizes the remaining GPU-seconds of running jobs, as in the paper. ``rate`` maximizes the
        sum of 1 / (remaining time) of running jobs. ``sum_time`` minimizes the sum of the remaining times of
        the jobs that must run.
    forced
        The jobs that must run: ``none``; ``new``, i.e. jobs that have never run, in order of arrival; or
        ``all``, in ascending order of remaining time on their smallest numbers of GPUs. Jobs that do not fit
        are skipped. ``sum_time`` requires ``all``.
    caps
        The limit on a job's GPUs: the number that its largest batch needs (``convergence``), or its largest
        allowed number (``batch``).
    reconfiguration
        The cost of a job's start, stop or change, at least 0, in the unit of the criterion.
    solver
        A method of `batching` or its name; if None, dynamic programming on arrays.

    Raises
    ------
    InvalidInput
        An option is invalid, or the cluster has GPUs of several kinds.

    Examples
    --------
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> menu = [(1, 1.0), (2, 1.5)]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1, menu=menu) for n, d in [("a", 3), ("b", 6)]]
    >>> simulate(Workload(jobs=jobs), exact_batching, cluster=2).completion_times
    (3.0, 5.0)
    >>> literal = {"criterion": "sruf", "forced": "none"}
    >>> simulate(Workload(jobs=jobs), exact_batching, cluster=2, **literal).completion_times
    (2.0, 6.0)
    """
    for name, value, choices in (
        ("criterion", criterion, Criterion),
        ("forced", forced, Forced),
        ("caps", caps, Caps),
    ):
        require_one_of(name, value, get_args(choices))
    consistent = criterion != "sum_time" or forced == "all"
    require(consistent, "forced", forced, "must be all where criterion is sum_time")
    sound = 0 <= number_of(reconfiguration) < inf
    require(sound, "reconfiguration", reconfiguration, "must be a number, at least 0")
    decision = BatchingDecision(criterion, forced, caps, float(reconfiguration))
    if solver is None:
        return Dividing(state, decision.by_arrays)
    method = find_method("batching", solver)
    return Dividing(state, lambda division: decision.by_method(division, method))
