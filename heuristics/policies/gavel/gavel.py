"""Gavel: optimal shares of time on every kind of GPU, and rounds that realize them."""

from collections.abc import Mapping
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
    restart: float | Mapping[str, float] = 0,
) -> Decider:
    """Grant jobs optimal shares of time for an objective, and let them take turns in rounds.

    A job always runs on as many GPUs as it demands, all of one kind, i.e. of one type and memory size. The
    policy rejects jobs that demand more GPUs than there are of any kind, so comparisons include it only if it
    is named by its path, ``heuristics.policies.gavel:gavel``. The shares solve the decision `shares` for the
    jobs' remaining work and current speeds. Each round runs the jobs that have received the smallest part of
    their shares (`heuristics.policies.gavel.rounds`).

    Source: Gavel (OSDI 2020), sections 4 and 5, and the simulator that its authors published (policies
    ``max_min_fairness_perf``, ``finish_time_fairness_perf``, ``min_total_duration_perf``, ``fifo_perf`` and
    ``max_sum_throughput_perf``). Its port in the simulator of Sia (SOSP 2023) is a baseline of Ares.

    Key, largest first: share divided by the job's part of the time that all jobs have had on the kind of GPU,
    then the missed time, which is the time by which the job had fallen short of its shares when shares were
    last computed, then the share. Ties: lower job number. Preemptive at the beginning of rounds. Knows
    durations, on which shares depend only with `finish_time` and `makespan`. O(J log J) per round and kind for
    J jobs, plus the solution of the decision `shares` when shares are computed.

    Readings:

    - Steps of adaptive jobs are iterations (`heuristics.policies.gavel.steps`), so the remaining work does not
      depend on how much progress a step makes in the current epoch.
    - A job's time is measured in seconds, not in GPU-seconds, even if the job runs on several GPUs. Shares are
      therefore shares of the time, not of the GPUs.
    - ``original``: shares are computed after arrivals and completions, but at least `renewal` seconds apart.
      Shares computed at time 0 (by default, the first release), however, are replaced at the end of the round
      in which a job arrives or completes. Until shares are computed again, a new job does not run, although
      GPUs are kept free for it. Jobs whose steps are known run only complete steps, and a round ends as soon as
      all of its jobs have done theirs.
    - ``port``: shares are computed in every round, the time that each job has had is never reset, rounds begin
      at multiples of `interval`, and all kinds have one queue.
    - Except with `fifo`, jobs whose share is 0 run on spare GPUs: those that have missed the most time first,
      then in order of arrival. In the authors' code for `max_sum`, the last digits of the solver's result
      decide their order; the port rounds them away.
    - With ``shares="queue"``, the objective `fifo` yields a strict queue, as in the code. By default, it is the
      objective of the paper.
    - Kinds of GPUs are allocated in the order in which the cluster lists their types, and then in ascending
      order of memory; in the code, the order is V100, P100, K80.

    Departures: the code uses the result of an interior-point method or, for `makespan`, of a bisection to
    within 5 %, and the last digits of this result decide ties. Here, the default method proves that shares are
    optimal, and identical jobs have equal shares. If no job could run until the next computation of shares,
    shares are computed immediately; the code waits for the next arrival. ``shares="water_filling"`` is max-min
    fairness on all levels, as in section 4.3, which the code's default policy omits.

    Parameters
    ----------
    objective
        The objective: ``max_min``, ``finish_time``, ``makespan``, ``fifo`` or ``max_sum``; see
        `gsopt.problems.shares.Shares`.
    shares
        A method of the decision `shares`, or its name.
    rounds
        The form of the rounds: ``original`` (Gavel's simulator) or ``port`` (its port in Sia's simulator).
    interval
        Length of a round, in seconds.
    renewal
        Minimum time between two computations of shares in the original rounds, in seconds. It does not apply
        after a computation at time 0, or if no job could run otherwise.
    isolated
        The isolated time with which finish times are compared. ``accumulated``: the time that a job's work so
        far would have taken in isolation, plus the time for the rest at its current isolated speed.
        ``present``: the time for all its work at the current isolated speed, plus the wait for its first round.
        None: as in the code, i.e. ``accumulated`` in the original rounds, and ``present`` in those of the port.
    restart
        Overhead per start, in seconds, for all jobs or by model; included in the isolated time with
        ``present``.

    Raises
    ------
    InvalidInput
        An option is out of range, or the method is unknown.
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
    _require_restart(restart)
    divide = TimeSharing(
        objective,
        find_method(Shares.word, shares, field="shares"),
        isolated=isolated or ("accumulated" if rounds == "original" else "present"),
        interval=interval,
        restart=restart,
    )
    leftovers = objective != "fifo"
    return Rounds(state, divide, form=rounds, interval=interval, renewal=renewal, leftovers=leftovers)


def _require_restart(restart: float | Mapping[str, float]) -> None:
    """Raise `InvalidInput` unless overheads are finite and not negative."""
    rule = "must be a finite number of seconds, at least 0"
    if isinstance(restart, Mapping):
        for model, seconds in restart.items():
            require(0 <= number_of(seconds) < inf, f"restart.{model}", seconds, rule)
    else:
        require(0 <= number_of(restart) < inf, "restart", restart, rule)
