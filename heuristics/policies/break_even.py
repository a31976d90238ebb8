"""Break-even: a policy whose jobs wait for closer GPUs for as long as the offered ones would delay them."""

from typing import Any

from gsopt.simulation import Decider, State
from gsopt.simulation.parts.offers import Clock, Renewal
from gsopt.simulation.parts.options import Order, Placement, offers
from gsopt.simulation.parts.tiers import Tiers


def break_even(
    state: State,
    *,
    clock: Clock = "offer",
    lease: float | None = 28800.0,
    renew: Renewal = "best",
    order: Order = "network_sensitive",
    placement: Placement = "best",
) -> Decider:
    """Let a job decline GPUs until it has waited for as long as they would prolong its run.

    Suppose that a job would run L seconds longer on the offered GPUs than on its best tier (see `dally`). It
    accepts them once it has waited L seconds. If the offer stands until then, the wait and the additional
    running time together are at most twice what they would be if the job knew when its best tier becomes free.

    Source: ski rental (Karlin, Manasse, Rudolph, Sleator 1988) applied to the decision in Dally, Algorithm 1.
    Offers and leases are those of `dally`. Key: given by `order`. Ties: as in `dally`. Preemptive at the end of
    leases only. Knows durations and slowdowns. O(waiting jobs) per event.

    Parameters
    ----------
    clock
        When the wait begins, as in `dally`; by default, at the first offer.
    lease, renew, order, placement
        As in `dally`.

    Raises
    ------
    InvalidInput
        An option is out of range.

    Examples
    --------
    >>> from gsopt import Cluster, Job, Workload, simulate
    >>> from gsopt.scenario.speed import TIER_PENALTIES, Speed
    >>> sizes = [("", "a", 100), ("", "b", 100), ("resnet18", "c", 10), ("vgg11", "d", 10)]
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=2, model=m) for m, n, d in sizes]
    >>> racks = Cluster.uniform(racks=2, machines=1, gpus=3)
    >>> simulate(Workload(jobs=jobs), break_even, cluster=racks, speed=Speed(tiers=TIER_PENALTIES)).start_times
    (0.0, 0.0, 100.0, 0.5999999999999996)
    """
    patience = _BreakEven(state)
    return offers(state, patience, order=order, placement=placement, clock=clock, lease=lease, renew=renew)


class _BreakEven:
    """A wait of as many seconds as the offered tier would cost a job, compared with its best tier."""

    def __init__(self, state: State) -> None:
        self._tiers = Tiers(state)

    def seconds(self, state: State, job: int, tier: int, gpus: tuple[int, ...], /) -> Any:
        """Return how many seconds longer the job would run on the GPUs than on its best tier."""
        if tier <= self._tiers.best(state.jobs[job]):
            return 0
        left = state.remaining(job)
        return max(left / state.rate(job, gpus) - left / self._tiers.fastest(state, job), 0)

    def accept(self, _state: State, _job: int, _tier: int, _waited: Any, /) -> None:
        """Do nothing, because there is nothing to learn."""
