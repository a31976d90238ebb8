"""Aryl: a policy for elastic jobs and loaned machines that preempts few jobs when machines are returned."""

from gsopt.simulation import Decider, State
from heuristics.policies.aryl.loaning import Loaning
from heuristics.policies.aryl.settings import ArylSettings
from heuristics.policies.settings import with_settings


@with_settings(ArylSettings)
def aryl(state: State, settings: ArylSettings) -> Decider:
    """Start jobs on their base workers, share the other GPUs among elastic jobs, and return loaned machines.

    A job consists of workers of equal size, each of which runs on one machine. Its base workers are the fewest
    with which it can run. An elastic job, i.e. one that can run on several numbers of GPUs, may also have
    flexible workers, which are added and removed while it runs. At every interval, the job scheduler first
    starts the shortest jobs that fit (phase one); flexible workers make way for them. It then divides the
    remaining GPUs among the elastic jobs (phase two). At its own interval, the orchestrator answers requests to
    return machines. Machines without base workers are returned first, followed by those that a method of the
    decision `reclaiming` chooses. Inelastic jobs prefer machines that are never on loan. Elastic jobs prefer
    machines that may be on loan, and there, base and flexible workers use separate groups of machines.

    Whether a machine belongs to the inference pool depends only on its GPU type. In a cluster without GPUs of
    that type (the option `inference`), all machines are treated alike, and requests are still answered.

    Source: Aryl, sections 3 to 6, Algorithms 1 and 2. Key: the remaining time of a job on its base workers
    (T^max in line 5 for elastic jobs), ignoring the slowdown on some GPU types. Ties: the job released first.
    Knows durations. Not preemptive, except when machines are returned. O(J log J + W S) per interval with
    events, for J jobs, W new workers, and S machines; phase two takes O(I log I) for I items, the possible
    numbers of flexible workers.

    Our interpretations where the paper is silent:

    - Item weights (line 17) count only flexible workers. ``weights="printed"`` counts base workers a second
      time, which may leave GPUs idle.
    - T (line 18) is the remaining time of a running job. ``work="full"`` uses the full time instead, even for a
      nearly complete job. When a job first starts, the two are equal.
    - Each pool has its own knapsack, so that the chosen workers can be placed. ``capacity="normalised"`` uses a
      single knapsack over normalised GPUs, in which `normalisation` GPUs of the inference pool count as one
      training GPU. Workers that cannot be placed are then lost.
    - Heterogeneous jobs, which can run on machines of both pools in the same mode, come last (section 6) in the
      knapsacks, in placement and, unless jobs block those behind them, when jobs are started. Their flexible
      workers use a pool only if that makes the job faster.
    - Algorithm 1 ignores flexible workers, and machines without base workers are returned before it runs
      (section 5.3). With ``spare_first=False``, the method chooses among all machines, as the baseline Random
      in Table 5 must do.
    - If the preferred pool is full, a job uses the other pool if it has a mode for it. Base and flexible
      workers share a machine of the inference pool only if they fit nowhere else in this pool.
    - A request whose deadline is no later than the orchestrator's next decision is answered immediately.

    Departures: if nothing has happened since the last interval, nothing is decided. A preempted job restarts at
    a later interval than that of its preemption; otherwise, it would merely migrate.

    Parameters
    ----------
    interval, orchestrator_interval
        Time between decisions of the scheduler, and of the orchestrator, in seconds.
    inference
        The GPU type of the machines that are sometimes on loan.
    reclaiming
        A method of the decision `reclaiming`, or its name.
    spare_first
        Whether machines without base workers are returned before the method is used.
    on_reclaim
        A function called with every problem that the method solves, and with the servers that it chooses.
    scheduler
        ``two_phase``, the name of another scheduler in `heuristics.policies.aryl.schedulers`, a scheduler, or a
        function that makes a scheduler for each run.
    scheduler_options
        Options of a scheduler given by name or as a function; None for ``two_phase``, whose options are those
        from `allocation` to `normalisation`.
    allocation
        A method of the decision `allocation` for phase two, or its name; None for a fast exact one. Must be
        None with ``weights="printed"``.
    solver
        A method of the decision `allocation`, or its name, for the knapsacks that the fast method does not
        cover; the decision's exact method if None.
    weights, work, capacity
        Readings, see above.
    normalisation
        How many GPUs of the inference pool count as one GPU of the training pool, with
        ``capacity="normalised"``.
    placement
        A method of the decision `placement`, or its name, which improves the placement of new workers after
        best fit. With ``best_fit_decreasing``, best fit is not improved.
    grouping
        Whether the preferences of section 5.3 apply. Otherwise all jobs prefer training machines, and workers
        go wherever they fit best (Table 6).

    Raises
    ------
    InvalidInput
        An option is out of range, a method or scheduler is unknown, or the cluster is plain, i.e. it has no
        machines.

    Examples
    --------
    In Table 4 of the paper, it is better to favour the longer job A:

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
