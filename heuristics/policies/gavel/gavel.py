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

    A job runs on as many GPUs as it demands, all of one kind, i.e. of one type and memory size. Its shares of
    the time on each kind solve the decision `shares` for the jobs' remaining work and current speeds. Each
    round runs the jobs that have received the smallest part of their shares. Unless `objective` is ``fifo``,
    spare GPUs of a kind go to jobs without a share on it. A new job waits until shares are computed again.

    Comparisons include the policy only if it is named by its path, ``heuristics.policies.gavel:gavel``.

    Source: Gavel (OSDI 2020), sections 4 and 5, and its authors' simulator (policies ``max_min_fairness_perf``
    etc.). The port of this code to Sia's simulator (SOSP 2023) is a baseline of Ares.

    Key, largest first: the share divided by the job's part of the time that all jobs have had on the kind; then
    how far its time was below its share when shares were last computed; then the share. Ties: lower job number.
    Preemptive at the beginning of rounds. Knows durations; shares depend on them only if `objective` is
    ``finish_time`` or ``makespan``. O(J log J) per round and kind for J jobs, plus the solution of `shares`.

    The work of an adaptive job is counted in iterations. Departure: in the code, shares are approximate; here,
    the default method proves that they are optimal.

    Parameters
    ----------
    objective
        ``max_min``, ``finish_time``, ``makespan``, ``fifo`` or ``max_sum``; see `gsopt.problems.shares.Shares`.
    shares
        A method of the decision `shares`, or its name. With the objective ``fifo``, ``"queue"`` is the strict
        queue of the code. ``"water_filling"`` is max-min fairness on all levels, as in section 4.3.
    rounds
        ``original``: shares are computed, and the time that jobs have had is reset, after arrivals, completions
        and changes of GPUs. Kinds are served in the cluster's order of types (in the code: V100, P100, K80). A
        round may end early, after the complete steps that fit into it. ``port``: shares are computed in every
        round, times are not reset, rounds begin at multiples of `interval`, and all kinds have one queue.
    interval
        Length of a round, in seconds.
    renewal
        Minimum time between two computations of shares in the original rounds, in seconds. It does not apply
        after a computation at time 0 (by default, the first release), or if no job could run otherwise. In the
        latter case, the code waits for an arrival.
    isolated
        How ``finish_time`` computes a job's isolated time, i.e. its completion time if it had an equal part of
        all GPUs. ``accumulated``: past work counts at the speed that an equal part gave at the time, the rest
        at the current one. ``present``: all work counts at the current one, and the wait for the first round is
        added. None: ``accumulated`` for the original rounds, ``present`` for the port.
    restart
        Overhead per start, in seconds, for all jobs or by model. With ``present``, it is added to the isolated
        time; otherwise, it is ignored.

    Raises
    ------
    InvalidInput
        An option is out of range, or the method is unknown.
    Unsupported
        A job demands more GPUs than there are of any kind on which it can run.

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
