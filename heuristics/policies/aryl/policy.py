"""Aryl: loaned machines, base and flexible workers, and the fewest preemptions when machines are asked for."""

from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from typing import Any, Literal

from gsopt.core.errors import InvalidInput, require, require_one_of
from gsopt.core.method import MethodLike
from gsopt.evaluation.catalogue import find_method
from gsopt.simulation import Decider, State
from heuristics.policies.aryl.epoch import Scheduler
from heuristics.policies.aryl.loaning import Loaning
from heuristics.policies.aryl.orchestrator import OnReclaim, Orchestrator
from heuristics.policies.aryl.schedulers.named import scheduler_named
from heuristics.policies.aryl.two_phase import TwoPhase, Work

#: A scheduler, or what makes one.
SchedulerLike = Scheduler | Callable[..., Scheduler]


def aryl(
    state: State,
    *,
    interval: float = 60,
    orchestrator_interval: float = 300,
    inference: str = "T4",
    reclaiming: MethodLike | str = "greedy",
    spare_first: bool = True,
    on_reclaim: OnReclaim | None = None,
    scheduler: SchedulerLike | str = "two_phase",
    scheduler_options: Mapping[str, Any] | None = None,
    allocation: MethodLike | str | None = None,
    weights: Literal["corrected", "printed"] = "corrected",
    work: Work = "remaining",
    capacity: Literal["pools", "normalised"] = "pools",
    normalisation: float = 3.0,
    placement: MethodLike | str = "best_fit_decreasing",
    grouping: bool = True,
) -> Decider:
    """Start jobs on their base workers, share the other GPUs among elastic jobs, and give loaned machines back.

    A job runs in workers of equal size, each on one machine. Its fewest workers are its base workers; an
    elastic job, one that may run on several numbers of GPUs, has flexible workers beside them, which come and
    go while it runs. At every interval the job scheduler starts the shortest jobs that fit (phase one), where
    flexible workers make way, and divides what is left (phase two). At its own interval the orchestrator
    answers requests for machines: those without base workers first, then those that a method of the decision
    `reclaiming` chooses. Inelastic jobs prefer machines that are never on loan, elastic ones those that are,
    where base and flexible workers go to separate groups of machines.

    Only the type of its machines tells the inference pool: in a cluster without GPUs of that type all machines
    are alike, and requests are answered all the same.

    Source: Aryl, sections 3 to 6, Algorithms 1 and 2. Key: the time that a job still needs on its base workers
    (T^max in line 5 for elastic jobs), without the slowdown of GPU types. Ties: the job released first. Knows
    durations. Not preemptive: only giving up machines preempts. O(J log J + W S) at an interval in which
    anything happened, for J jobs, W workers that start or come, and S machines; phase two O(I log I) for I
    numbers of flexible workers.

    Readings of what the paper leaves open:

    - Item weights (line 17) are those of the flexible workers alone; ``weights="printed"`` charges base workers
      once more and leaves GPUs idle.
    - T (line 18) is what remains of a running job; ``work="full"`` takes all of it, also of a job that is
      nearly done. Jobs that have just started have the same value both ways.
    - Each pool has a knapsack of its own, so what is given can be placed; ``capacity="normalised"`` is the
      single one over normalised GPUs, in which GPUs on loan count a third, and what finds no place is lost.
    - Heterogeneous jobs come last (section 6) in starts, knapsacks and placement. A pool counts for their
      flexible workers only if they make the job faster.
    - Algorithm 1 knows no flexible workers; machines without base workers are returned before it is asked
      (section 5.3). With ``spare_first=False`` the method chooses among all, as Random in Table 5 must.
    - When the preferred pool is full a job goes to the other, if it has a mode for it; base and flexible
      workers meet on a machine only if they fit nowhere else.
    - A request whose deadline comes no later than the orchestrator's next interval is answered at once.

    Departures: where nothing has happened since the last interval nothing is decided. A preempted job starts
    at a later interval than that of its preemption: else it would only have moved.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    interval, orchestrator_interval
        Seconds between decisions of the scheduler, and of the orchestrator.
    inference
        The type of GPU of the machines that are on loan at times.
    reclaiming
        A method of the decision `reclaiming`, or its name.
    spare_first
        Whether machines without base workers are given up before the method is asked.
    on_reclaim
        Is told every problem that the method has decided, and the servers that it has chosen.
    scheduler
        ``two_phase``, one of `heuristics.policies.aryl.schedulers` by name, a scheduler, or what makes
        one for each run.
    scheduler_options
        Options of a scheduler that is named or made, but for ``two_phase``, whose options follow.
    allocation
        A method of the decision `allocation` for phase two, or its name; None for a fast exact one.
    weights, work, capacity
        Readings, see above.
    normalisation
        How many GPUs of the inference pool count as one of the training pool where that is normalised.
    placement
        A method of the decision `placement`, or its name, which places anew what was just placed by best fit.
        ``best_fit_decreasing`` is built in.
    grouping
        Whether the preferences of section 5.3 count; else all jobs prefer training machines, and workers go
        wherever they fit best (Table 6).

    Raises
    ------
    InvalidInput
        An option is out of its range, there is no such method or scheduler, or the cluster is plain.

    Examples
    --------
    Table 4 of the paper, in which favouring the longer job A is better:

    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> from gsopt.scenario.speed import linear_menu
    >>> jobs = [
    ...     Job(name="A", release_date=0, duration=150, gpus=2, menu=linear_menu(2, [2, 3])),
    ...     Job(name="B", release_date=0, duration=60, gpus=2, menu=linear_menu(2, [2, 3, 4, 5, 6])),
    ... ]
    >>> cluster = Cluster.uniform(machines=1, gpus=8)
    >>> simulate(Workload(jobs=jobs), aryl, cluster=cluster, interval=1).completion_times
    (100.0, 24.0)
    """
    require_one_of("weights", weights, ("corrected", "printed"))
    require_one_of("work", work, ("remaining", "full"))
    require_one_of("capacity", capacity, ("pools", "normalised"))
    sound = isinstance(normalisation, int | float) and 1 <= normalisation < inf
    require(sound, "normalisation", normalisation, "must be a number, at least 1")
    rule = "must be None where weights are printed: two_phase of allocation has them"
    require(weights == "corrected" or allocation is None, "allocation", allocation, rule)
    if weights == "printed":
        allocation = partial(find_method("allocation", "two_phase"), weight="printed")
    if scheduler == "two_phase":
        require(not scheduler_options, "scheduler_options", scheduler_options, "must be None for two_phase")
        decides: Scheduler = TwoPhase(
            find_method("allocation", "exact"),
            knapsack=None if allocation is None else _method("allocation", allocation),
            work=work,
            normalised=normalisation if capacity == "normalised" else None,
        )
    else:
        decides = _scheduler(scheduler, scheduler_options)
    chooses = Orchestrator(_method("reclaiming", reclaiming), spare_first=spare_first, on_reclaim=on_reclaim)
    built_in = placement == "best_fit_decreasing"
    return Loaning(
        state,
        decides,
        chooses,
        interval=interval,
        orchestrator_interval=orchestrator_interval,
        inference=inference,
        grouping=grouping,
        placement=None if built_in else _method("placement", placement),
    )


def _method(decision: str, given: MethodLike | str) -> MethodLike:
    """Find a method of a decision, whose option has the decision's name."""
    try:
        return find_method(decision, given)
    except InvalidInput as error:
        raise InvalidInput("", decision, error.value, error.rule) from None


def _scheduler(given: SchedulerLike | str, options: Mapping[str, Any] | None) -> Scheduler:
    """Make a scheduler, or take one as it is."""
    if isinstance(given, str):
        return scheduler_named(given, options)
    if callable(given):
        return given(**(options or {}))
    require(not options, "scheduler_options", options, "must be None for a scheduler that is made already")
    return given
