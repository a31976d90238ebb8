"""Gavel: shares of the time on every kind of GPU, and rounds that carry them out."""

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

    A job always runs on the GPUs that it demands, all of one kind, that is, of one type and memory size. The
    policy refuses jobs that demand more GPUs than there are of any kind, so comparisons include it only if it
    is named by its path, ``heuristics.policies.gavel:gavel``. The shares solve the decision `shares` for the
    remaining work and the current speeds of the jobs. Each round runs the jobs that have received the least of
    their shares (`heuristics.policies.gavel.rounds`).

    Source: Gavel (OSDI 2020), sections 4 and 5, and the simulator that its authors published (policies
    ``max_min_fairness_perf``, ``finish_time_fairness_perf``, ``min_total_duration_perf``, ``fifo_perf`` and
    ``max_sum_throughput_perf``). Its port in the simulator of Sia (SOSP 2023) is a baseline of Ares.

    Key: share divided by the fraction of all time that the job has had, then the time missed before, then the
    share. Ties: lower job number. Preemptive at the beginning of rounds. Knows durations, which `max_min` does
    not use. O(J log J) per round and kind for J jobs, and sometimes a decision to solve.

    Readings:

    - Steps of adaptive jobs are iterations (`heuristics.policies.gavel.steps`), so the work after the current
      epoch does not depend on how much progress a step makes in it.
    - For a multi-GPU job, the seconds for which it runs count, not its GPU-seconds. Such a job therefore
      receives its share of the time and not of the GPUs.
    - ``original``: shares are computed after arrivals and completions, but at most every `renewal` seconds.
      Until then, a new job does not run, although GPUs are kept free for it. A round ends with its last job,
      and runs whole steps of those jobs whose steps are known.
    - ``port``: shares are computed in every round, the time that jobs have had is never reset, rounds begin at
      multiples of `interval`, and all kinds have one queue.
    - Jobs without a share run on spare GPUs in the order of arrival, except with `fifo`. In the code of
      `max_sum`, the last digits of the solver decide their order; its port rounds them away.
    - The code's `fifo` is ``shares="queue"``, a strict queue; the default is the paper's.
    - Kinds of GPUs are allocated in the order in which the cluster lists their types, and by memory, least
      first; the code has V100, P100, K80.

    Departures: the code takes the result of an interior-point method or, for `makespan`, of a bisection to
    within 5 %, and the last digits of this result decide ties. Here, shares are proven optimal, and are equal
    for identical jobs. If no job could run until the next computation of shares, the computation takes place
    immediately; the code waits for the next arrival. ``shares="water_filling"`` is max-min fairness on all
    levels, as in section 4.3, which the code's default policy omits.

    Parameters
    ----------
    objective
        The objective: ``max_min``, ``finish_time``, ``makespan``, ``fifo`` or ``max_sum``; see
        `gsopt.problems.shares.Shares`.
    shares
        A method of the decision `shares`, or its name.
    rounds
        The form of the rounds: ``original`` (Gavel's simulator) or ``port`` (its port in Sia's).
    interval
        Seconds per round.
    renewal
        Smallest number of seconds between two computations of shares in the original rounds.
    isolated
        The time that finish times are compared with: ``accumulated``, the isolated time that a job's work so
        far would have taken, and the rest at its current isolated speed; or ``present``, all its work at that
        speed after the wait for its first round. If None, as in the code that `rounds` follows.
    restart
        Seconds of overhead per start, of all jobs or by model, added by ``present``.

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
    """Check that overheads are finite and not negative."""
    rule = "must be a finite number of seconds, at least 0"
    if isinstance(restart, Mapping):
        for model, seconds in restart.items():
            require(0 <= number_of(seconds) < inf, f"restart.{model}", seconds, rule)
    else:
        require(0 <= number_of(restart) < inf, "restart", restart, rule)
