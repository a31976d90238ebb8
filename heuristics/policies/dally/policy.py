"""Dally: delay scheduling by network tiers, with tuned timers and preemption by network sensitivity."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from math import inf
from typing import Any, Literal

from gsopt.core.errors import number_of, require, require_one_of
from gsopt.simulation import Decider, State
from gsopt.simulation.parts.offers import Clock, Renewal
from gsopt.simulation.parts.options import Order, Placement, offers
from gsopt.simulation.parts.patience import Timer, Timers, always_waits, never_waits
from heuristics.policies.dally.tuner import HistoryOn, TunedTimer, Tuner, WaitList

#: Where the timers come from.
TimerKind = Literal["auto", "manual", "none", "consolidated"]

_HOUR = 3600.0


def dally(
    state: State,
    *,
    timers: TimerKind = "auto",
    clock: Clock = "starvation",
    lease: float | None = 8 * _HOUR,
    renew: Renewal = "best",
    order: Order = "network_sensitive",
    placement: Placement = "best",
    delays: Sequence[float] = (12 * _HOUR, 24 * _HOUR),
    history: float = 168 * _HOUR,
    history_on: HistoryOn = "record",
    max_len: int | None = None,
    ddof: Literal[0, 1] = 1,
    empty: Sequence[float] | None = None,
    floors: Sequence[float] = (),
    caps: Sequence[float] = (),
    least_wait: float = 0.0,
    censored: bool = False,
    observe: Callable[[TunedTimer], Any] | None = None,
) -> Decider:
    """Offer free GPUs to the jobs that the network has slowed down most; a job declines those too far apart.

    A job accepts GPUs of its best tier at once, and those of a worse tier when its timers for all better ones
    have run out. The timers are tuned by how long jobs of the same demand have waited for the tier (mean plus
    two standard deviations), or are given, or 0 (``"none"``), or infinite (``"consolidated"``). When a job has
    held GPUs for a lease they are offered anew to all waiting jobs, which is how jobs are preempted.

    Source: Dally, section IV-B, Algorithms 1 and 2. Key: Nw_sens, the iterations done times the compute time of
    one over the time spent running; the number of iterations cancels. It is 0 for a job that has not run, so
    new jobs come first. Ties: who has waited longer, then the lower number. Preemptive at the end of leases
    only; not when `lease` is None. Durations are not used. O(waiting jobs) per event.

    Where the paper leaves something open: the test that enough GPUs are free, which line 21 of Algorithm 1
    lacks, is made. A rejected offer passes to the next job. Whether a job fits a machine or rack, without which
    its timer is 0, is a matter of the empty cluster. The machine timer counts within the rack timer, and a
    timer is at least as long as those of closer tiers. A job on a rack's GPUs that happen to be of one machine
    has the machine tier. What the published pseudo-code skips by removing entries of a list while going through
    it is removed too. Demands need not be powers of 2. Timers beyond three tiers are those of the same rule,
    one for each tier but the outermost. A renewed lease is no accepted offer, so its wait of 0 is not recorded.
    What is recorded is the wait on the clock with which the timer is compared. A job's time is `Job.duration`,
    on the GPUs that it demands.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    timers
        Where the timers come from.
    clock
        Since when a job waits: its arrival or the loss of its GPUs, or the first offer that it declined since.
    lease
        Seconds for which a job holds its GPUs before they are offered anew; as long as it runs when None. When
        preemption takes place is not said in the paper.
    renew
        Whether a job whose lease ends keeps its GPUs, or takes others of their tier, if those before it have
        left them: ``"best"`` only where that is its best tier, so that a bad placement lasts no longer than a
        lease; ``"same"`` whatever the tier; ``"never"``, so that it waits for them as for any others.
    order
        Nw_sens as published; ``"relative"`` times the slowdown on the job's best tier, so that a model that is
        slow everywhere does not always come first; ``"fifo"`` by release date; ``"round_robin"`` by waiting.
    placement
        ``"best"`` asks the run's placer, by default for the tightest machine, or the tightest rack and its
        emptiest machines, or the emptiest machines of all; ``"first"`` takes the first machine, or rack, that
        has room; ``"emptiest"`` the machines with the most free GPUs.
    delays
        Given timers in seconds from the innermost tier out, each counted from the beginning of the wait. Where
        there are more tiers they go on as from the last but one to the last.
    history
        Seconds after which a wait is dropped from its list.
    history_on
        Whether that is counted from when it was recorded, or is the wait itself, as printed, which drops the
        long ones.
    max_len
        Most waits in a list; any number when None.
    ddof
        1 for the standard deviation of a sample, 0 for that of a population.
    empty
        Timers while a list is empty; `delays` when None.
    floors, caps
        Least and greatest tuned timers, in seconds from the innermost tier out.
    least_wait
        Seconds below which a wait is not recorded; all are when 0.
    censored
        Whether a job that takes a worse tier has its wait recorded for the better ones that it gave up.
    observe
        Called with a `heuristics.policies.dally.tuner.TunedTimer` when a tuned timer is found to have changed.

    Raises
    ------
    InvalidInput
        An option is out of its range.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> sizes = [("a", 9), ("b", 5), ("c", 1)]
    >>> jobs = Workload(jobs=[Job(name=n, release_date=0, duration=d, gpus=2) for n, d in sizes])
    >>> racks = Cluster.uniform(racks=2, machines=1, gpus=3)
    >>> [simulate(jobs, dally, cluster=racks, timers=kind).start_times[2] for kind in ("auto", "none")]
    [5.0, 0.0]
    >>> simulate(jobs, dally, cluster=racks, timers="manual", delays=[3, 4]).start_times[2]
    4.0
    """
    require_one_of("timers", timers, ("auto", "manual", *_FIXED))
    require_one_of("history_on", history_on, ("record", "wait"))
    _require_timers("delays", delays, least=1)
    for name, some in (("empty", empty), ("floors", floors), ("caps", caps)):
        _require_timers(name, some or (), least=0)
    require(number_of(history) > 0, "history", history, "must be more than 0 seconds")
    require(max_len is None or number_of(max_len) >= 1, "max_len", max_len, "must be at least 1")
    require(ddof in {0, 1}, "ddof", ddof, "must be 0 or 1")
    sound = 0 <= number_of(least_wait) < inf
    require(sound, "least_wait", least_wait, "must be a finite number of seconds, at least 0")
    if timers == "auto":
        make_list = partial(WaitList, history=history, history_on=history_on, max_len=max_len, ddof=ddof)
        patience: Timers = Tuner(
            state,
            make_list,
            _given(delays if empty is None else empty),
            floors=floors,
            caps=caps,
            least_wait=least_wait,
            censored=censored,
            observe=observe,
        )
    else:
        patience = Timers(state, _FIXED.get(timers) or _given(delays))
    return offers(state, patience, order=order, placement=placement, clock=clock, lease=lease, renew=renew)


_FIXED: dict[str, Timer] = {"none": never_waits, "consolidated": always_waits}


def _given(delays: Sequence[float]) -> Timer:
    """Make the timers of a list, which go on for further tiers as it ends; 0 when it is empty."""

    def timer(tier: int, _gpus: int) -> float:
        if not delays:
            return 0.0
        beyond = max(tier - len(delays) + 1, 0)
        step = delays[-1] - delays[-2] if len(delays) > 1 else delays[-1]
        return delays[min(tier, len(delays) - 1)] + beyond * step

    return timer


def _require_timers(name: str, given: Sequence[float], least: int) -> None:
    enough = isinstance(given, Collection) and len(given) >= least
    sound = enough and all(0 <= number_of(seconds) < inf for seconds in given)
    require(sound, name, given, "must be finite numbers of seconds, at least 0")
