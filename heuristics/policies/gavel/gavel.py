"""Gavel: shares of the time on every kind of GPU, and rounds in which jobs come to them."""

from math import inf
from typing import get_args

from gsopt.core.errors import number_of, require, require_one_of
from gsopt.core.method import MethodLike
from gsopt.evaluation.catalogue import find_method
from gsopt.problems.shares import Criterion, Shares
from gsopt.simulation import Decider, State
from gsopt.simulation.interval import require_interval
from heuristics.policies.gavel.rounds import RULES, Form, Rounds
from heuristics.policies.gavel.time_shares import Isolated, TimeSharing


def gavel(
    state: State,
    *,
    objective: Criterion = "max_min",
    shares: MethodLike | str = "exact",
    rounds: Form = "original",
    interval: float = 360,
    renewal: float = 1920,
    isolated: Isolated | None = None,
    restart: float = 0,
) -> Decider:
    """Grant jobs shares of the time that are best for an objective, and let them take turns in rounds.

    A job always runs on its demanded GPUs, all of one kind: a type with its memory. As the policy refuses
    larger jobs, it is named by its path, ``heuristics.policies.gavel:gavel``. Shares are those of the decision
    `shares`, for the work that jobs have left and their present speeds. In each round the jobs run that have
    had least of their shares (`heuristics.policies.gavel.rounds`).

    Source: Gavel (OSDI 2020), sections 4 and 5, and the simulator that its authors published, policies
    ``max_min_fairness_perf``, ``finish_time_fairness_perf``, ``min_total_duration_perf`` and ``fifo_perf``; its
    port in the simulator of Sia (SOSP 2023), which Ares compares with.

    Key: share over the part of all time that the job has had, then what it missed before, then its share. Ties:
    lower number. Preemptive, at the beginning of rounds. Durations count except in `max_min`. A round costs O(J
    log J) for each kind, and now and then a solved decision.

    Readings:

    - A multi-GPU job counts the seconds that it runs, not those of its GPUs, so it comes to its share of the
      time and not of the GPUs.
    - ``original``: shares are computed after arrivals and completions, at most every `renewal` seconds. Until
      then a new job does not run, though the GPUs for it stay empty. A round ends with its last job, and has
      whole steps of the jobs whose steps are known.
    - ``port``: shares are computed in every round, what jobs have had is never forgotten, rounds begin at
      multiples of `interval`, and all kinds have one queue.
    - Jobs without a share run on what is left, except in `fifo`. The code's `fifo` is ``shares="queue"``, a
      strict queue; the default is the paper's.
    - Kinds of GPUs are given away in the order in which the cluster lists their types, and by their memory, the
      least first; the code has V100, P100 and K80.

    Departures: the code takes what an interior point method returns or, for `makespan`, a bisection to 5 %, and
    the last digits of that decide ties; here shares are proven best, and equal for jobs that are alike. If no
    job could run until the next computation of shares, it takes place at once; the code waits for the next
    arrival. ``shares="water_filling"`` is max-min fairness in all levels, as in section 4.3, which the code's
    default policy leaves out.

    Parameters
    ----------
    objective
        What counts: ``max_min``, ``finish_time``, ``makespan`` or ``fifo``, see `gsopt.problems.shares.Shares`.
    shares
        A method of the decision `shares`, or its name.
    rounds
        Whose rounds: ``original`` or ``port``.
    interval
        Seconds of a round.
    renewal
        Fewest seconds between computations of shares in the original rounds.
    isolated
        What finish times are compared with: ``accumulated``, the isolated time that a job's work so far would
        have taken, and the rest at its present isolated speed; or ``present``, all its work at that speed
        after the wait for its first round. Each is what the authors of these rounds have when None.
    restart
        Seconds of a start that ``present`` adds.

    Raises
    ------
    InvalidInput
        An option is out of its range, or there is no such method.
    Unsupported
        A job demands more GPUs than there are of any kind.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [Job(name=name, release_date=0, duration=540, gpus=1) for name in "ab"]
    >>> simulate(Workload(jobs=jobs), gavel, cluster=1).completion_times
    (900.0, 1080.0)
    """
    require_one_of("objective", objective, get_args(Criterion))
    require_one_of("rounds", rounds, RULES)
    if isolated is not None:
        require_one_of("isolated", isolated, get_args(Isolated))
    require_interval("interval", interval)
    require_interval("renewal", renewal)
    require(0 <= number_of(restart) < inf, "restart", restart, "must be a finite number of seconds, at least 0")
    divide = TimeSharing(
        objective,
        find_method(Shares.word, shares, field="shares"),
        isolated=isolated or ("accumulated" if rounds == "original" else "present"),
        interval=interval,
        restart=restart,
    )
    leftovers = objective != "fifo"
    return Rounds(state, divide, form=rounds, interval=interval, renewal=renewal, leftovers=leftovers)
