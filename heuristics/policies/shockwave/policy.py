"""Shockwave: the next rounds planned for welfare, finish-time fairness and a short makespan."""

from math import inf
from typing import get_args

from gsopt.core.errors import number_of, require, require_one_of
from gsopt.core.numbers.tolerances import WINDOW_GAP
from gsopt.simulation import Decider, State
from heuristics.policies.shockwave.outlook import Since, Terms, WindowPlanner
from heuristics.policies.shockwave.program import Effort
from heuristics.policies.shockwave.windowing import Windowing

#: Most rounds of a window, of which plans are tables.
_MOST_ROUNDS = 1000

#: Largest price of a second, beside which doubles still know what jobs gain to a thousandth.
_MOST_PRICE = 1_000_000

#: Largest weight, beside which a job of weight 1 does not vanish among the tolerances of solvers.
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
    """Plan the next rounds so that jobs progress evenly, finish as promised, and the longest is not late.

    A plan says which jobs run in which of the next rounds, on all their demanded GPUs. It maximises the sum
    over all N jobs of log((e + q) / E) / (N T) for the work e done, q planned and E in all, less `makespan`
    times the longest time that any job has left after the T rounds; the logarithm is piecewise linear, with
    corners at fifths and log(1e-6) at 0. It is fair if each job, with an equal share of the GPUs after the
    window, is complete when it was promised to be: a mean of what an equal share from its release on would have
    given, as estimated at every plan. If no plan is fair, late jobs are weighted by their finish-time ratio to
    a power instead. Jobs that weigh most per round come first. GPUs that would be idle go to jobs with most
    left to run, if they fit.

    Source: Shockwave (NSDI 2023), sections 4 to 6, and the program that its authors published, from which
    corners, estimates, weights and presets are. Key: as above. Ties: as the knapsack and the solver have them.
    Preemptive at the beginning of rounds; knows durations. A plan costs O(J T^2 M) for J jobs on M GPUs and an
    integer programme of J T columns for their order, and where the knapsack does not pack, in about one plan of
    three, another one: a fifth to a half of a second of computing for 160 jobs at once on 64 GPUs, at worst
    some seconds.

    For its four clusters the authors' program has `makespan` from 1e-3 to 1e5 and `power` from 5 to 15; the
    defaults here are those for 32 GPUs.

    Readings:

    - `since`: compared finish times count from the ``start`` of the run in the program, so that ratios
      come closer to 1 the longer it lasts; in the paper from each job's ``release``. A run starts here when its
      first job comes.
    - An equal share is that of a job among jobs, of one GPU each, as in the program, whatever their demands.
    - In the program a job that is late and needs less than a round weighs its ratio to the power 100, which no
      solver can bear; weights are capped at `most_weight`.
    - `renewal` counts the rounds of the run in which there are jobs; in the program a completion restarts the
      count.
    - All plans are ordered; in the program only unfair ones are, others are as the solver leaves them.

    Departures: the program predicts how batches grow, and what is left of a job from that; here it is known, at
    its present speed. Progress counts continuously, not in whole epochs. The first term is solved apart from
    the second (`heuristics.policies.shockwave.search`): where `makespan` is large, a gap of a thousandth of
    both together leaves the first one to chance. Overheads are not planned, and a job that stops before it has
    got over its restart gets nowhere; rounds are to be longer than restarts. While GPUs are away, jobs that
    demand more than there are count neither in plans nor in shares.

    By its path only, as ``heuristics.policies.shockwave:shockwave``: it refuses GPUs of several kinds, and jobs
    that demand more than there are.

    Parameters
    ----------
    interval
        Seconds of a round.
    rounds
        Rounds of a window.
    renewal
        Rounds after which the next ones are planned anew; they also are whenever jobs or GPUs come or go.
    makespan
        What the longest remaining time costs per second (k in the paper).
    ratio
        Largest finish-time ratio that is fair.
    power
        Power of the ratio of late jobs (lambda in the paper).
    most_weight
        Most that a late job weighs, at most a billion.
    since
        From when finish times count: the ``start`` of the run, or a job's ``release``.
    exact
        Whether integer programmes are solved to the end; else to a gap of a thousandth, or to the `limit`.
    limit
        Seconds after which a solve ends with what it has; None for no limit, so that runs are the same on every
        machine. It does not count where `exact`.

    Raises
    ------
    InvalidInput
        An option is out of its range, or GPUs are of several kinds.
    Unsupported
        A job demands more GPUs than there are.

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
