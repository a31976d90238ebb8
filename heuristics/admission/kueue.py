"""Kueue: candidates with a lower priority stop one by one, then resume in reverse order where possible."""

from collections.abc import Iterator, Mapping, Sequence

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.admission import Admission, AdmissionSolution, Running
from heuristics.admission.admitting import Stops, admit, check_time, least_important_first, place
from heuristics.admission.quotas import Quotas
from heuristics.admission.room import Room, Seats


@heuristic
def kueue(
    problem: Admission,
    *,
    quotas: Mapping[str, int] | None = None,
    borrow_below: int | None = None,
    budget: Budget = UNLIMITED,
) -> AdmissionSolution | NoSolution:
    """Stop candidates in Kueue's order until the pending gang fits, then resume those that need not stop.

    All queues form one cohort. The candidates are evictable gangs of lower priority: first those in other
    queues that exceed their quota, then those in the pending gang's own queue. Both lists are in ascending
    order of priority; among equals, latest start first. Candidates stop one by one until the pending gang fits.
    A candidate in another queue is skipped once that queue is within its quota. Then, in reverse order, each
    stopped gang except the last one resumes if the pending gang still fits.

    Without `borrow_below`, gangs in other queues stop only if the pending gang's queue is below its quota at
    the start and within it at the end. If this is not possible, only gangs in the pending gang's queue stop.

    Parameters
    ----------
    problem
        The problem.
    quotas
        Nominal quotas of queues in GPUs, keyed by queue; 0 for queues that are not listed.
    borrow_below
        Highest priority at which gangs in other queues may stop even if the pending gang's queue then exceeds
        its quota (``borrowWithinCohort`` with a ``maxPriorityThreshold``); None if none may.
    budget
        Time limit.

    Notes
    -----
    Source: Kueue v0.20.0-devel (commit ff69552e), ``pkg/scheduler/preemption/preemption.go``
    (``classicalPreemptions``, ``fillBackWorkloads``), ``classical/candidate_generator.go``,
    ``classical/hierarchical_preemption.go`` and ``common/ordering.go``, with the policies ``withinClusterQueue:
    LowerPriority`` and ``reclaimWithinCohort: LowerPriority``. Here, gangs are placed in the group at their
    level with the least room to spare.

    Left out: nested cohorts, limits on borrowing and lending, multiple flavors, quotas for resources other than
    GPUs, priority boosts, and policies that evict gangs of the same or a higher priority.

    Complexity: O(R log R + M) for R running gangs on M machines in total, if pending gangs have one part.

    Examples
    --------
    >>> from gsopt.problems.admission import Gang, Part
    >>> from gsopt.problems.placement import Resources
    >>> from gsopt.scenario.cluster import Cluster
    >>> def part(gpus): return [Part(needs=Resources(gpu=gpus))]
    >>> running = [
    ...     Running(name=name, parts=part(gpus), on=[{"machine 0.0": 1}], priority=priority)
    ...     for name, gpus, priority in [("low", 1, -1), ("middle", 2, 0), ("high", 3, 1)]
    ... ]
    >>> pending = [Gang(name="new", parts=part(2), priority=1)]
    >>> cluster = Cluster.uniform(machines=1, gpus=6)
    >>> kueue(Admission(cluster=cluster, running=running, pending=pending)).solution.evicted
    ('middle',)
    """

    def rule(room: Room, seats: Seats, candidates: Sequence[Running], budget: Budget) -> Stops | None:
        quota = Quotas(room, seats.gang, quotas or {})
        search = _Search(room, seats, quota, candidates, borrow_below)
        return search.run(budget)

    return admit(problem, rule, budget)


class _Search:
    """The search for candidates to stop for one pending gang."""

    def __init__(
        self,
        room: Room,
        seats: Seats,
        quotas: Quotas,
        candidates: Sequence[Running],
        borrow_below: int | None,
    ) -> None:
        self._room, self._seats, self._quotas, self._borrow_below = room, seats, quotas, borrow_below
        own = [gang for gang in candidates if gang.queue == seats.gang.queue]
        others = [gang for gang in candidates if gang.queue != seats.gang.queue and quotas.exceeded(gang.queue)]
        self._others = bool(others)
        self._order = [*sorted(others, key=least_important_first), *sorted(own, key=least_important_first)]
        #: Whether the gang fits into its own queue's quota, so that other queues must return what they
        #: borrowed.
        self._entitled = quotas.excess() <= 0

    def run(self, budget: Budget) -> Stops | None:
        for borrowing in self._attempts():
            stopped: list[Running] = []
            for gang in self._valid(borrowing):
                check_time(budget)
                self._stop(gang)
                stopped.append(gang)
                if self._fits(borrowing):
                    self._give_back(stopped, borrowing, budget)
                    return place(self._seats)
            for gang in stopped:
                self._resume(gang)
        return None

    def _attempts(self) -> tuple[bool, ...]:
        """Return, for each attempt in order, whether the pending gang's queue may exceed its quota."""
        forbidden = self._borrow_below is None
        if not self._others or (forbidden and not self._quotas.below_now()):
            return (True,)
        if forbidden and not self._entitled:
            return (False, True)
        return (True, False)

    def _valid(self, borrowing: bool) -> Iterator[Running]:
        for gang in self._order:
            if gang.queue != self._seats.gang.queue:
                if borrowing and not self._entitled and not self._lends(gang):
                    continue
                if not self._quotas.exceeded(gang.queue):
                    continue
            yield gang

    def _lends(self, gang: Running) -> bool:
        return self._borrow_below is not None and gang.priority <= self._borrow_below

    def _fits(self, borrowing: bool) -> bool:
        return (borrowing or self._quotas.excess() <= 0) and self._seats.fits()

    def _stop(self, gang: Running) -> None:
        self._room.stop(gang)
        self._quotas.stop(gang)

    def _resume(self, gang: Running) -> None:
        self._room.resume(gang)
        self._quotas.resume(gang)

    def _give_back(self, stopped: Sequence[Running], borrowing: bool, budget: Budget) -> None:
        for gang in reversed(stopped[:-1]):
            if budget.passed:
                return
            self._resume(gang)
            if not self._fits(borrowing):
                self._stop(gang)
