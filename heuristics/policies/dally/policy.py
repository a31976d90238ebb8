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

    Jobs decline GPUs that are too far apart: a job accepts GPUs of its best tier immediately, and GPUs of a
    worse tier once its timers for all better tiers have expired. By default, timers are tuned: each is the mean
    plus two standard deviations of the times that jobs with the same demand waited until they accepted GPUs of
    the tier. They may also be given, or 0 (``"none"``), or infinite (``"consolidated"``). When a job's lease
    ends, its GPUs are offered to all waiting jobs again. This is how jobs are preempted.

    Source: Dally, section IV-B, Algorithms 1 and 2. Key, smallest first: Nw_sens, the number of completed
    iterations times the compute time per iteration, divided by the running time. It is 0 for a job that has not
    run, so new jobs come first. Ties: the job that has waited longer, then the lower job number. Preemptive
    only at the end of leases, and not at all if `lease` is None. Does not use durations. O(waiting jobs) per
    event.

    Our interpretations where the paper is silent:

    - The policy checks that enough GPUs are free, which line 21 of Algorithm 1 omits. If a job rejects an
      offer, the offer passes to the next job.
    - A job's timer for machines (or racks) is 0 if the job does not fit into a machine (or rack) of the empty
      cluster. All timers of a job run from the beginning of its wait, and a timer is at least as long as the
      timers of closer tiers.
    - If the GPUs that a job gets in a rack happen to be on one machine, the job has the machine tier.
    - All old entries of a list (of the waits for one tier with one demand) are removed; the published
      pseudo-code skips some of them, because it removes entries while iterating.
    - Demands need not be powers of 2. With more than three tiers, there is one timer for each tier except the
      outermost.
    - A renewed lease does not count as an accepted offer, so its wait of 0 is not recorded. Recorded waits are
      measured by the same `clock` as the waits that are compared with timers.
    - All iterations together have the compute time `Job.duration`, on the GPUs that the job demands.

    Parameters
    ----------
    timers
        The timers: tuned (``"auto"``), those of `delays` (``"manual"``), 0 (``"none"``), or infinite
        (``"consolidated"``).
    clock
        When a job's wait begins: at its arrival or the loss of its GPUs (``"starvation"``), or at the first
        offer that it has declined since then (``"offer"``).
    lease
        Seconds for which a job holds its GPUs before they are offered again, or None for its whole run. The
        paper does not say when jobs are preempted.
    renew
        Whether a job whose lease ends may keep its GPUs, or take others of the same or a better tier, if the
        jobs ahead of it have not taken them. ``"best"``: only if it was on its best tier. ``"same"``: on any
        tier. ``"never"``: the job waits for these GPUs as for any others.
    order
        ``"network_sensitive"``: Nw_sens as published. ``"relative"``: Nw_sens multiplied by the slowdown on the
        job's best tier, so that a model that is slow everywhere does not always come first. ``"fifo"``: by
        release date. ``"round_robin"``: longest wait first.
    placement
        ``"best"`` uses the run's placer, which by default chooses the fullest machine with room, or else the
        fullest rack with room and its emptiest machines, or else the emptiest machines of the cluster.
        ``"first"`` takes the first machine, or rack, that has room. ``"emptiest"`` takes the machines with the
        most free GPUs.
    delays
        The given timers in seconds, from the innermost tier outwards, each counted from the beginning of the
        wait. For further tiers, the difference between the last two timers, or the only timer, is added again.
    history
        Age, in seconds, above which a wait is removed from its list.
    history_on
        Whether the age is the time since the wait was recorded (``"record"``) or, as printed in the paper, the
        wait itself (``"wait"``), so that long waits are dropped.
    max_len
        Largest number of waits in a list; unlimited if None.
    ddof
        1 for the standard deviation of a sample, 0 for that of a population.
    empty
        Timers that apply while a list is empty; `delays` if None.
    floors, caps
        Lower and upper limits on the tuned timers, in seconds, from the innermost tier outwards.
    least_wait
        Waits of fewer seconds than this are not recorded; with 0, all waits are recorded.
    censored
        Whether the wait of a job that takes a worse tier is also recorded for the better tiers that it gave up.
    observe
        A function called with a `heuristics.policies.dally.tuner.TunedTimer` whenever a tuned timer has
        changed.

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
