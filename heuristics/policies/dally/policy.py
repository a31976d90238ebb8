"""Dally: delay scheduling by network tiers, with tuned timers and network-sensitive preemption."""

from collections.abc import Sequence

from gsopt.simulation import Decider, State
from gsopt.simulation.parts.options import offers
from gsopt.simulation.parts.patience import Timer, Timers, always_waits, never_waits
from heuristics.policies.dally.settings import DallySettings
from heuristics.policies.dally.tuner import Tuner
from heuristics.policies.settings import with_settings

_FIXED: dict[str, Timer] = {"none": never_waits, "consolidated": always_waits}


@with_settings(DallySettings)
def dally(state: State, settings: DallySettings) -> Decider:
    """Offer free GPUs first to the jobs that the network slows down most.

    A job accepts GPUs of its best tier at once, i.e. of the innermost network tier (machine, rack, ...) on
    which it fits into the empty cluster. It accepts GPUs of a worse tier once it has waited for as long as each
    of its timers for better tiers. GPUs that it declines are offered to the next job. When a job's lease ends,
    its GPUs are offered to all waiting jobs and to the job itself.

    There is a timer for each tier and demand. By default, it is the mean plus two standard deviations of a list
    of waits: the times after which jobs of this demand accepted GPUs of this tier.

    Source: Dally, section IV-B, Algorithms 1 and 2. Key, smallest first: Nw_sens, the work done so far, in
    seconds at speed 1, divided by the running time so far, or 0 for a job that has not run. Ties: the job that
    has waited longer, then the lower job number. Preemptive at the end of leases only. Does not use durations.
    O(waiting jobs) per event.

    Departures: line 21 of Algorithm 1 does not check that enough GPUs are free; here, offers require this. The
    loop of Algorithm 2 skips some old waits; here, all are removed. When a lease ends, no wait is recorded for
    the jobs that `renew` exempts from waiting.

    Parameters
    ----------
    timers
        Tuned (``"auto"``), those of `delays` (``"manual"``), 0 (``"none"``), or infinite (``"consolidated"``).
    clock
        When a wait begins: when the job arrives or loses its GPUs (``"starvation"``), or at its first offer
        after that (``"offer"``).
    lease
        Seconds after which a job's GPUs are offered again; None for never. The paper does not say when jobs are
        preempted.
    renew
        Which jobs need not wait for GPUs of the same or a better tier when their leases end: those on their
        best tier (``"best"``) or all (``"same"``). With ``"never"``, the timers apply as usual.
    order
        By Nw_sens (``"network_sensitive"``), by Nw_sens divided by the speed on the best tier (``"relative"``),
        by release date (``"fifo"``), or longest wait first (``"round_robin"``).
    placement
        Which GPUs are offered: the choice of the run's placer (``"best"``), those of the first machine with
        room or, if there is none, of the first rack, and so on (``"first"``), or those of the machines with the
        most free GPUs (``"emptiest"``).
    delays
        Timers for ``"manual"``, in seconds, from the innermost tier outwards. Each further timer exceeds the
        one before by the difference between the last two given or, if only one is given, by this one.
    history
        Age, in seconds, above which a wait is removed from its list.
    history_on
        What counts as a wait's age: the time since it was recorded (``"record"``) or, as printed in the paper,
        the wait itself (``"wait"``).
    max_len
        Largest number of waits in a list; unlimited if None.
    ddof
        1 for the standard deviation of a sample, 0 for that of a population.
    empty
        Timers for empty lists, in the form of `delays`; None for `delays` itself.
    floors, caps
        Lower and upper limits on the tuned timers, in seconds, from the innermost tier outwards.
    least_wait
        Shortest wait that is recorded, in seconds.
    censored
        Whether a wait that ends with a worse tier is also recorded for the better tiers that the job gave up.
    observe
        A function called with each new `heuristics.policies.dally.tuner.TunedTimer`.

    Raises
    ------
    InvalidInput
        An option is out of range.

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
    delays = given_timers(settings.delays)
    if settings.timers == "auto":
        empty = delays if settings.empty is None else given_timers(settings.empty)
        patience: Timers = Tuner(state, settings, empty)
    else:
        patience = Timers(state, _FIXED.get(settings.timers, delays))
    return offers(
        state,
        patience,
        order=settings.order,
        placement=settings.placement,
        clock=settings.clock,
        lease=settings.lease,
        renew=settings.renew,
    )


def given_timers(delays: Sequence[float]) -> Timer:
    """Return a function that looks up the timer of a tier in `delays`.

    Timers of further tiers are extrapolated. If `delays` is empty, all timers are 0.
    """

    def timer(tier: int, _gpus: int) -> float:
        if not delays:
            return 0.0
        beyond = max(tier - len(delays) + 1, 0)
        step = delays[-1] - delays[-2] if len(delays) > 1 else delays[-1]
        return delays[min(tier, len(delays) - 1)] + beyond * step

    return timer
