"""Themis auction: leases of GPUs, auctioned among the jobs with the worst finish-time ratios."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Any

from gsopt.core.errors import Unsupported, number_of, require
from gsopt.core.numbers.tolerances import SUM
from gsopt.simulation import Action, Assign, Decider, State, Wake
from gsopt.simulation.interval import require_interval
from gsopt.simulation.parts.inventory import kinds_of
from gsopt.simulation.parts.pool import Count, pool_of
from gsopt.simulation.parts.ties import settled
from heuristics.policies.gavel.auction import auction


def themis_auction(
    state: State, *, lease: float = 1200, bidding: float = 0.2, payments: bool = True
) -> Decider:
    """Auction off leases of GPUs to the jobs with the largest finish-time ratios.

    At every arrival and completion, and when a lease ends, all GPUs without a lease are auctioned. The bidders
    are the jobs without a lease that have the largest ratios. For each allowed number of GPUs, a bidder bids
    the reciprocal of the ratio that it would have with this number. The allocation maximizes the product of the
    bids. GPUs that are left go to other jobs without a lease, largest ratio first, up to their demands. Bidders
    that won nothing come last.

    A job's ratio is (age + remaining work / speed) / isolated time, where its age is the time since its
    release. The isolated time is the time that the whole job takes on its demanded GPUs. If the job demands
    more GPUs than there are per present job, this time is longer in proportion.

    Source: Themis (NSDI 2020), sections 4 and 5, without its agents and its placement scores. The authors' code
    is not public, so the policy could not be checked against it. Key: the finish-time ratio on the demanded
    GPUs. Ties: lower job number. Preemptive at the end of leases, when elastic jobs are also resized. Knows
    durations. Each auction is solved exactly, by dynamic programming.

    Departure: in the paper, the ratio of a job without GPUs is infinite, so any product with such a job is 0.
    Here, the job is assumed to get its demand one lease later.

    Parameters
    ----------
    lease
        Length of a lease, in seconds.
    bidding
        Fraction of the jobs without a lease that bid, above 0 and at most 1, rounded up to a whole job. The
        paper has 1 - f with f = 0.8.
    payments
        Whether winners give up some of their GPUs as a payment for the loss that they cause the other bidders.
        The GPUs that they keep are rounded up to an allowed number.

    Raises
    ------
    InvalidInput
        An option is out of range.
    Unsupported
        The cluster has GPUs of several types or memory sizes, or no GPUs suit a job in its default mode.

    Examples
    --------
    >>> from gsopt import Job, Workload, simulate
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 3000), ("b", 600)]]
    >>> simulate(Workload(jobs=jobs), themis_auction, cluster=1).completion_times
    (3600.0, 1800.0)
    """
    require_interval("lease", lease)
    require(0 < number_of(bidding) <= 1, "bidding", bidding, "must be a number above 0 and at most 1")
    pool = pool_of(state)
    if not isinstance(pool, Count):
        kinds = ", ".join(kinds_of(state.cluster))
        raise Unsupported(f"themis_auction needs GPUs of one kind, but there are {kinds}")
    return _Auctions(state, pool, lease, bidding, payments=payments)


class _Auctions:
    preemptive = True

    def __init__(self, state: State, pool: Count, lease: float, bidding: float, *, payments: bool) -> None:
        self._pool = pool
        self._lease, self._bidding, self._payments = type(state.now)(lease), bidding, payments
        self._there: dict[int, None] = {}
        self._ends: dict[int, Any] = {}  # of leases

    def decide(self, state: State) -> Iterable[Action]:
        """Auction the unleased GPUs, if there are any, among the jobs without a lease."""
        for job in (*state.completed, *state.evicted):
            self._ends.pop(job, None)
        for job in state.completed:
            del self._there[job]
        self._pool.check_arrived(state)
        self._there |= dict.fromkeys(state.arrived)
        self._ends = {job: end for job, end in self._ends.items() if end > state.now}
        claimants = [job for job in self._there if job not in self._ends]
        held = {job: state.running[job] for job in self._ends}
        free = state.capacity - sum(held.values())
        if claimants and free:
            awarded = self._award(state, claimants, free)
            self._ends |= dict.fromkeys(awarded, state.now + self._lease)
            yield Assign({**held, **awarded})
        if self._ends:
            yield Wake(min(self._ends.values()))

    def _award(self, state: State, claimants: Sequence[int], free: int) -> dict[int, int]:
        """Return how many GPUs each job gets, omitting jobs that get none."""
        ratios = {job: settled(self._ratio(state, job, state.jobs[job].gpus)) for job in claimants}
        order = sorted(claimants, key=lambda job: (-ratios[job], job))
        bidders = order[: ceil(self._bidding * len(order) * (1 - SUM))]  # 100 * 0.07 is above 7
        awards = auction([self._bid(state, job) for job in bidders], free)
        won: dict[int, int] = {}
        for job, award in zip(bidders, awards, strict=True):
            if award.gpus:
                won[job] = award.kept(state.jobs[job].counts) if self._payments else award.gpus
        left = free - sum(won.values())
        for job in [*order[len(bidders) :], *bidders]:
            fitting = [count for count in state.jobs[job].counts if count <= min(left, state.jobs[job].gpus)]
            if job not in won and fitting:
                won[job] = fitting[-1]
                left -= fitting[-1]
        return won

    def _bid(self, state: State, job: int) -> Mapping[int, float]:
        return {count: 1 / self._ratio(state, job, count) for count in (0, *state.jobs[job].counts)}

    def _ratio(self, state: State, job: int, count: int) -> float:
        """Return the finish-time ratio of a job if it holds `count` GPUs from now on."""
        item, number = state.jobs[job], type(state.now)
        age = state.now - number(item.release_date)
        wait = number(0) if count else self._lease
        left = state.remaining(job) / state.rate(job, count or item.gpus)
        part = min(1.0, state.capacity / (len(self._there) * item.gpus))
        isolated = item.duration / (float(state.rate(job, item.gpus)) * part)
        return float(age + wait + left) / isolated
