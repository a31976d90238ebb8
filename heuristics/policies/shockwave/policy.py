"""Shockwave: a policy that plans rounds ahead for welfare, finish-time fairness and a short makespan."""

from math import inf
from typing import get_args

from gsopt.core.errors import number_of, require, require_one_of
from gsopt.core.numbers.tolerances import WINDOW_GAP
from gsopt.simulation import Decider, State
from heuristics.policies.shockwave.outlook import Since, Terms, WindowPlanner
from heuristics.policies.shockwave.program import Effort
from heuristics.policies.shockwave.windowing import Windowing

#: Largest number of rounds in a window, because plans are tables of jobs by rounds.
_MOST_ROUNDS = 1000

#: Largest price of a second, with which doubles still resolve the jobs' gains to a thousandth.
_MOST_PRICE = 1_000_000

#: Largest weight, with which a job of weight 1 does not yet vanish in the tolerances of solvers.
_MOST_WEIGHT = 1_000_000_000


def shockwave(
    state: State,
    *,
    interval: float = 120,
    rounds: int = 20,
    renewal: int = 8,
    makespan: float = 1e-3,
    ratio: float = 1.0,
    power: float = 12.0,
    most_weight: float = 1e6,
    since: Since = "start",
    exact: bool = False,
    limit: float | None = 15.0,
) -> Decider:
    """Plan the next rounds for even progress, promised completion times, and a short makespan.

    A plan states which jobs run in which of the next T rounds (the window), each on all the GPUs that it
    demands. It maximizes the sum of log((e + q) / E) / (N T) over all N jobs, minus `makespan` times the
    longest remaining time of any job after the window. Here, e is the job's completed work, q its planned work,
    and E its total work. The logarithm is replaced by a piecewise linear function, with breakpoints at fifths
    and the value log(1e-6) at 0. Plans must be fair: after the window, an equal share (see the readings below)
    must suffice for each job to complete by its promised time, multiplied by `ratio`. The promised time is the
    time at which the job would complete with an equal share since its release. It is estimated anew at every
    plan, and a weighted mean of all estimates so far is used. If no plan is fair, one is made without this
    requirement, in which the logarithm of every job that would be late with an equal share is multiplied by a
    weight: a power of its finish-time ratio, i.e. the time at which it would complete with an equal share,
    divided by the promised time. All other weights are 1. Jobs with the most weight per planned round run
    first. GPUs that would be idle go to jobs that fit, those with the most remaining time first.

    Source: Shockwave (NSDI 2023), sections 4 to 6. Breakpoints, estimates, weights and defaults are from the
    program that its authors published. Key: as above. Ties: as in the knapsack and the solver. Preemptive at
    the beginning of rounds; knows durations. A plan takes one or more knapsacks, each O(J T^2 M) for J jobs on
    M GPUs, and an integer program with 2 J T columns for the order of the jobs. If the solution of a knapsack
    cannot be packed into rounds, or only with a loss, it is replaced by that of another integer program of this
    size. With many jobs, this may take several seconds.

    For its four clusters, the authors' program sets `makespan` between 1e-3 and 1e5 and `power` between 5 and
    15. The defaults here are its values for 32 GPUs.

    Readings:

    - `since`: in the program, finish times are measured from the ``start`` of the run, so the longer a run
      lasts, the closer ratios are to 1. In the paper, they are measured from each job's ``release``. Here, the
      start of a run is the release of its first job.
    - With an equal share, a job progresses at its full speed (that on all the GPUs that it demands) times the
      number of GPUs divided by the number of jobs, or at full speed if there are fewer jobs than GPUs. As in
      the program, this ignores how many GPUs jobs demand.
    - In the program, the weight of a late job that needs less than a round is its ratio to the power 100, which
      solvers cannot represent. Here, weights are capped at `most_weight`.
    - For `renewal`, only rounds in which jobs are present are counted. In the program, a completion restarts
      the count.
    - Here, the rounds of all plans are put into the best order. The program does this only for unfair plans,
      and leaves the others as the solver returns them.

    Departures: the program predicts how batch sizes grow, and derives the remaining time of a job from this.
    Here, the remaining time at the job's current speed is known. Progress is measured continuously, not in full
    epochs. The two terms of the objective are optimized separately (`heuristics.policies.shockwave.search`), so
    that a gap (see `exact`) applies to the first term alone. Plans do not include overheads, and a job that
    stops before its restart is over makes no progress, so rounds should be longer than restarts. While GPUs are
    absent, jobs that demand more than the capacity are in no plan and are not counted in equal shares.

    Comparisons include the policy only if it is named by its path, ``heuristics.policies.shockwave:shockwave``.
    It rejects GPUs of several kinds, and jobs that demand more GPUs than the cluster has.

    Parameters
    ----------
    interval
        Length of a round, in seconds.
    rounds
        Number of rounds in a window.
    renewal
        A new plan is made every time this number of rounds has passed. Arrivals, completions, changes of GPUs
        and the end of a window also lead to a new plan.
    makespan
        Cost per second of the longest remaining time (k in the paper).
    ratio
        Largest finish-time ratio that is considered fair.
    power
        Power of the finish-time ratio in the weights of late jobs (lambda in the paper).
    most_weight
        Largest weight of a late job, at most a billion.
    since
        The time from which finish times are measured: the ``start`` of the run, or a job's ``release``.
    exact
        Whether integer programs are solved to proven optimality. Otherwise, they are solved to a gap of a
        thousandth, or until the `limit`. `gsopt.simulate` has an option of the same name, so set this one with
        `functools.partial`.
    limit
        Seconds after which an integer program ends with its best solution so far. None: no limit, so that runs
        are the same on every machine. Ignored with `exact`.

    Raises
    ------
    InvalidInput
        An option is out of range, or GPUs are of several kinds.
    Unsupported
        A job demands more GPUs than the cluster has.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> sizes = [("a", 480), ("b", 240), ("c", 120)]
    >>> jobs = [Job(name=name, release_date=0, duration=d, gpus=1) for name, d in sizes]
    >>> simulate(Workload(jobs=jobs), shockwave, cluster=1).completion_times
    (840.0, 360.0, 120.0)
    """
    for name, value in {"rounds": rounds, "renewal": renewal}.items():
        rule = f"must be a whole number from 1 to {_MOST_ROUNDS}"
        require(isinstance(value, int) and 1 <= number_of(value) <= _MOST_ROUNDS, name, value, rule)
    require(0 <= number_of(makespan) <= _MOST_PRICE, "makespan", makespan, f"must be from 0 to {_MOST_PRICE:,}")
    require(0 <= number_of(power) < inf, "power", power, "must be a finite number, at least 0")
    require(0 < number_of(ratio) < inf, "ratio", ratio, "must be a finite number above 0")
    rule = f"must be from 1 to {_MOST_WEIGHT:,}"
    require(1 <= number_of(most_weight) <= _MOST_WEIGHT, "most_weight", most_weight, rule)
    require_one_of("since", since, get_args(Since))
    rule = "must be a positive, finite number of seconds, or None"
    require(limit is None or 0 < number_of(limit) < inf, "limit", limit, rule)
    terms = Terms(
        rounds=rounds,
        interval=interval,
        makespan=float(makespan),
        ratio=float(ratio),
        power=float(power),
        most_weight=float(most_weight),
        since=since,
        effort=Effort() if exact else Effort(gap=WINDOW_GAP, limit=limit),
    )
    return Windowing(state, WindowPlanner(terms), interval=interval, renewal=renewal)
