"""Aryl: loaned machines, base and flexible workers, and few preemptions when machines are returned."""

from gsopt.simulation import Decider, State
from heuristics.policies.aryl.loaning import Loaning
from heuristics.policies.aryl.settings import ArylSettings
from heuristics.policies.settings import with_settings


@with_settings(ArylSettings)
def aryl(state: State, settings: ArylSettings) -> Decider:
    """Start jobs on their base workers, share the other GPUs among elastic jobs, and return loaned machines.

    A job runs in workers of equal size, each on one machine. Its base workers are the fewest on which it can
    run; an elastic job, which may run on several numbers of GPUs, has flexible workers beside them, which come
    and go while it runs. At every interval the job scheduler starts the shortest jobs that fit (phase one), for
    which flexible workers make way, and divides the remaining GPUs (phase two). At its own interval the
    orchestrator answers requests for machines: those without base workers go first, then those that a method of
    the decision `reclaiming` chooses. Inelastic jobs prefer machines that are never on loan, elastic ones those
    that are, where base and flexible workers use separate groups of machines.

    Machines belong to the inference pool by their type only: in a cluster without GPUs of that type all
    machines are alike, and requests are answered all the same.

    Source: Aryl, sections 3 to 6, Algorithms 1 and 2. Key: the remaining time of a job on its base workers
    (T^max in line 5 for elastic jobs), without the slowdown of GPU types. Ties: the job released first. Knows
    durations. Not preemptive: only returning machines preempts. O(J log J + W S) at an interval in which
    anything happened, for J jobs, W workers that start or come, and S machines; phase two O(I log I) for I
    numbers of flexible workers.

    Readings of what the paper leaves open:

    - Item weights (line 17) are those of the flexible workers alone; ``weights="printed"`` charges base workers
      once more and leaves GPUs idle.
    - T (line 18) is the remaining time of a running job; ``work="full"`` takes its full time, even if it is
      nearly complete. For jobs that have just started both are the same.
    - Each pool has its own knapsack, so that its workers can be placed; ``capacity="normalised"`` is the single
      one over normalised GPUs, in which GPUs on loan count a third, and workers that find no room are lost.
    - Heterogeneous jobs come last (section 6) in starts, knapsacks and placement. Their flexible workers use a
      pool only if it makes the job faster.
    - Algorithm 1 knows no flexible workers; machines without base workers are returned before it is asked
      (section 5.3). With ``spare_first=False`` the method chooses among all machines, as Random in Table 5
      must.
    - If the preferred pool is full a job uses the other, provided that it has a mode for it; base and flexible
      workers share a machine only if they fit nowhere else.
    - A request whose deadline comes no later than the orchestrator's next interval is answered at once.

    Departures: if nothing has happened since the last interval nothing is decided. A preempted job starts at a
    later interval than that of its preemption: otherwise it would only have moved.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    interval, orchestrator_interval
        Seconds between decisions of the scheduler, and of the orchestrator.
    inference
        The type of GPU of the machines that are sometimes on loan.
    reclaiming
        A method of the decision `reclaiming`, or its name.
    spare_first
        Whether machines without base workers are returned before the method is asked.
    on_reclaim
        Called with every problem that the method has solved, and the servers that it has chosen.
    scheduler
        ``two_phase``, the name of one of `heuristics.policies.aryl.schedulers`, a scheduler, or what makes one
        for each run.
    scheduler_options
        Options of a scheduler that is named or made, except for ``two_phase``, whose options follow.
    allocation
        A method of the decision `allocation` for phase two, or its name; None for a fast exact one.
    solver
        A method of the decision `allocation`, or its name, for the knapsacks that the fast method does not
        cover; the decision's exact method when None.
    weights, work, capacity
        Readings, see above.
    normalisation
        How many GPUs of the inference pool count as one of the training pool if the capacity is normalised.
    placement
        A method of the decision `placement`, or its name, which places new workers again after best fit.
        ``best_fit_decreasing`` is built in.
    grouping
        Whether the preferences of section 5.3 count; otherwise all jobs prefer training machines, and workers
        go wherever they fit best (Table 6).

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
    return Loaning(state, settings)
