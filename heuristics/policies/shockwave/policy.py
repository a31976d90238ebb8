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

    A plan lists the jobs that run in each of the next T rounds (the window), on all the GPUs that they demand.
    The plan maximizes the sum of log((e + q) / E) / (N T) over all N jobs that demand at most the M GPUs
    present, minus `makespan` times the longest remaining time of any job after the window. Here, e, q and E are
    a job's completed, planned and total work. The logarithm is interpolated linearly between fifths, with the
    value log(1e-6) at 0.

    Plans must be fair: from the end of the window, an equal share of the GPUs must suffice for each job to
    complete by its promised time, multiplied by `ratio`. If, for any job, this product is before the end of the
    window, no plan counts as fair. With an equal share, a job has min(1, M / N) times its full speed. The
    promised time is when the job would complete with an equal share since its release. It is estimated at every
    plan, and a weighted mean of all estimates so far is used.

    If no plan is fair, fairness is not required. Instead, the logarithm of each job that would be late with an
    equal share from now on is multiplied by a weight. The weight is a power of the job's finish-time ratio: its
    completion time with this share, divided by its promised time. All other weights are 1.

    The rounds of a plan are then rearranged so that jobs with more weight per planned round tend to run
    earlier. Idle GPUs go to jobs that fit, those with the longest remaining time first.

    Source: Shockwave (NSDI 2023), sections 4 to 6. Breakpoints, estimates, weights, and all defaults except
    that of `most_weight` are from its authors' program. Key: the plan. Ties: as in the knapsack and the solver.
    Preemptive at the beginning of rounds; knows durations. A plan takes one or more knapsacks, each O(N T^2 M),
    and usually integer programs with 2 N T columns. With many jobs, this may take several seconds.

    Departures:

    - The program predicts how batch sizes grow, and counts full epochs. Here, the remaining time at a job's
      current speed is known.
    - In the program, weights are not limited, a completion restarts the count of `renewal`, and rounds are
      rearranged only if no plan is fair.

    Comparisons include the policy only if it is named by its path, ``heuristics.policies.shockwave:shockwave``.

    Parameters
    ----------
    interval
        Length of a round, in seconds. It should exceed the duration of restarts, which plans ignore.
    rounds
        Number of rounds in a window.
    renewal
        A new plan is made every time this number of rounds has passed. Arrivals, completions, changes of GPUs
        and the end of a window also lead to a new plan.
    makespan
        Cost per second of the longest remaining time (k in the paper); 1e-3 to 1e5 in the authors' program,
        depending on the cluster.
    ratio
        Largest finish-time ratio that is considered fair.
    power
        Power of the finish-time ratio in weights (lambda in the paper); 5 to 15 in the authors' program. For
        jobs that need less than a round, the power is 100.
    most_weight
        Largest weight of a late job, at most a billion.
    since
        Whether finish times are measured from the ``start`` of the run, i.e. the release of its first job, as
        in the program, or from each job's ``release``, as in the paper.
    exact
        Whether integer programs are solved to proven optimality instead of a gap of a thousandth. Set it with
        `functools.partial`, because `gsopt.simulate` has an option of the same name.
    limit
        Time limit of an integer program, in seconds; ignored with `exact`. If None, there is no limit, and runs
        are the same on every machine.

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
