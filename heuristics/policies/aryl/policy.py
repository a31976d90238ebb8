"""Aryl: a policy for elastic jobs and loaned machines that preempts few jobs when machines are returned."""

from gsopt.simulation import Decider, State
from heuristics.policies.aryl.loaning import Loaning
from heuristics.policies.aryl.settings import ArylSettings
from heuristics.policies.settings import with_settings


@with_settings(ArylSettings)
def aryl(state: State, settings: ArylSettings) -> Decider:
    """Start jobs on their base workers, share the other GPUs among elastic jobs, and return loaned machines.

    A job runs as workers of equal size, each on one machine. Its base workers are the fewest with which it can
    run. Elastic jobs may also have flexible workers. At every interval, waiting jobs that fit start, shortest
    first, and flexible workers make way for them (phase one). Knapsack problems then divide the remaining GPUs
    among elastic jobs (phase two). At its own interval, the orchestrator answers requests to return machines,
    and preempts jobs with base workers on them.

    Machines that may be on loan form the inference pool, which elastic jobs prefer. Other jobs prefer training
    machines. Heterogeneous jobs, whose modes all suit both pools, prefer training machines for base workers and
    the inference pool for flexible ones. In the inference pool, base and flexible workers share a machine only
    if they fit nowhere else in the pool.

    Source: Aryl, sections 3 to 6, Algorithms 1 and 2. Key: the remaining time of a job on its base workers,
    ignoring the slowdown on some GPU types. Ties: the job released first. Knows durations. Not preemptive,
    except when machines are returned. O(J log J + W S) per interval with events, for J jobs, W new workers, and
    S machines. Phase two takes O(I log I) for I possible numbers of flexible workers, or the time of `solver`.

    Departures: nothing is decided if nothing has happened since the last interval. A preempted job restarts at
    a later interval. Heterogeneous jobs (section 6) start last unless the scheduler lets jobs block others.

    Parameters
    ----------
    interval, orchestrator_interval
        Seconds between decisions of the scheduler, and of the orchestrator. A request whose deadline is no
        later than the orchestrator's next decision is answered immediately.
    inference
        GPU type of the machines that may be on loan.
    reclaiming
        A method of the decision `reclaiming`, or its name, which chooses machines to return.
    spare_first
        Whether machines without base workers are returned before `reclaiming` chooses others. The baseline
        Random in Table 5 needs False.
    on_reclaim
        A function called with every problem that `reclaiming` solves, and with the servers that it chooses.
    scheduler
        ``two_phase``, the name of another scheduler in `heuristics.policies.aryl.schedulers`, a scheduler, or a
        function that makes one for each run.
    scheduler_options
        Options of a scheduler given by name or as a function. Must be None with ``scheduler="two_phase"``,
        whose options are those from `allocation` to `normalisation`.
    allocation
        A method of the decision `allocation` for phase two, or its name; None for a fast exact algorithm, and
        `solver` where it does not apply. Must be None with ``weights="printed"``.
    solver
        A method of the decision `allocation`, or its name; the decision's exact method if None.
    weights
        Weight of flexible workers in a knapsack: their own GPUs (``corrected``), or also those of the job's
        base workers (``printed``, line 17), which may leave GPUs idle.
    work
        Whether flexible workers are assumed to shorten a job's ``remaining`` or its ``full`` time on base
        workers (line 18).
    capacity
        ``pools``: one knapsack for each pool, then one for jobs that may use both. ``normalised``: a single
        one; chosen workers that cannot be placed are lost.
    normalisation
        Inference GPUs that count as one training GPU with ``capacity="normalised"``.
    placement
        A method of the decision `placement`, or its name, which may move new workers after best fit. With
        ``best_fit_decreasing``, they stay.
    grouping
        Whether the preferences above apply (section 5.3). Otherwise, all jobs prefer training machines, and
        within each pool, workers go wherever they fit best (Table 6).

    Raises
    ------
    InvalidInput
        An option is out of range, a method or scheduler is unknown, or the cluster has no machines.

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
