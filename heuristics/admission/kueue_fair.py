"""Kueue fair: Kueue's fair sharing, where the queue with the largest share gives up gangs first."""

from collections.abc import Iterator, Mapping, Sequence

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import require
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.admission import Admission, AdmissionSolution, Running
from heuristics.admission.admitting import Stops, admit, check_time, least_important_first, place
from heuristics.admission.quotas import Quotas
from heuristics.admission.room import Room, Seats


@heuristic
def kueue_fair(
    problem: Admission,
    *,
    quotas: Mapping[str, int] | None = None,
    weights: Mapping[str, float] | None = None,
    budget: Budget = UNLIMITED,
) -> AdmissionSolution | NoSolution:
    """Stop gangs in the queues with the largest shares until the pending gang fits.

    A queue's share is the number of GPUs that it uses beyond its quota, divided by its weight; it is 0 within
    the quota. The share of the pending gang's queue includes that gang. The candidates of each queue and their
    order are those of `heuristics.admission.kueue`.

    Gangs stop one by one until the pending gang fits, always in the queue with the largest share among those
    with candidates. In queues other than the pending gang's, a candidate is skipped if the queue's share
    without it would be smaller than that of the pending gang's queue (``LessThanOrEqualToFinalShare``). If that
    does not make enough room, the first skipped candidate of each queue whose share exceeds that of the pending
    gang's queue stops (``LessThanInitialShare``). Then, in reverse order, each stopped gang except the last one
    resumes if the pending gang still fits.

    Parameters
    ----------
    problem
        The problem.
    quotas
        Nominal quotas of queues in GPUs, keyed by queue; 0 for queues that are not listed.
    weights
        Weights of queues, greater than 0, keyed by queue; 1 for queues that are not listed.
    budget
        Time limit.

    Raises
    ------
    InvalidInput
        A weight is not greater than 0.

    Notes
    -----
    Source: Kueue v0.20.0-devel (commit ff69552e), ``pkg/scheduler/preemption/preemption.go``
    (``fairPreemptions``, ``runFirstFsStrategy``, ``runSecondFsStrategy``), ``fairsharing/ordering.go`` and
    ``fairsharing/strategy.go``, with both strategies in their default order.

    Left out: weights of 0, shares of resources other than GPUs, and what `heuristics.admission.kueue` leaves
    out.

    Complexity: O(R (log R + Q) + M) for R running gangs in Q queues on M machines in total, if pending gangs
    have one part.

    Examples
    --------
    >>> from gsopt.problems.admission import Gang, Part
    >>> from gsopt.problems.placement import Resources
    >>> from gsopt.scenario.cluster import Cluster
    >>> part = [Part(needs=Resources(gpu=1))]
    >>> running = [
    ...     Running(name=name, parts=part, on=[{"machine 0.0": 1}], queue=name[0], priority=-1)
    ...     for name in ["a1", "a2", "b1", "b2", "b3"]
    ... ]
    >>> cluster = Cluster.uniform(machines=1, gpus=5)
    >>> pending = [Gang(name="new", parts=part, queue="a")]
    >>> problem = Admission(cluster=cluster, running=running, pending=pending)
    >>> kueue_fair(problem).solution.evicted
    ('a1',)
    >>> kueue_fair(problem, quotas={"a": 3, "b": 2}).solution.evicted
    ('b1',)
    """
    for queue, weight in (weights or {}).items():
        require(weight > 0, f"weights[{queue!r}]", weight, "must be greater than 0")

    def rule(room: Room, seats: Seats, candidates: Sequence[Running], budget: Budget) -> Stops | None:
        shares = Quotas(room, seats.gang, quotas or {}, weights)
        return _Search(room, seats, shares, candidates).run(budget)

    return admit(problem, rule, budget)


class _Search:
    """The search for candidates to stop for one pending gang."""

    def __init__(self, room: Room, seats: Seats, shares: Quotas, candidates: Sequence[Running]) -> None:
        self._room, self._seats, self._shares = room, seats, shares
        self._own = seats.gang.queue
        self._order = sorted(
            (gang for gang in candidates if gang.queue == self._own or shares.exceeded(gang.queue)),
            key=least_important_first,
        )
        self._stopped: list[Running] = []

    def run(self, budget: Budget) -> Stops | None:
        spared: list[Running] = []
        if not self._fits_after(self._by_final_share(spared), budget) and not self._fits_after(
            self._by_initial_share(spared), budget
        ):
            return None
        for gang in reversed(self._stopped[:-1]):
            if budget.passed:
                break
            self._resume(gang)
            if not self._seats.fits():
                self._stop(gang)
        return place(self._seats)

    def _fits_after(self, stopping: Iterator[Running], budget: Budget) -> bool:
        """Stop gangs one by one until the pending gang fits; return whether it does."""
        for gang in stopping:
            check_time(budget)
            self._stop(gang)
            self._stopped.append(gang)
            if self._seats.fits():
                return True
        return False

    def _by_final_share(self, spared: list[Running]) -> Iterator[Running]:
        """Yield gangs whose queue's share stays large enough without them; add other gangs to `spared`."""
        queues = _Queues(self._order, self._shares, self._own)
        while (queue := queues.largest()) is not None:
            waiting = queues.of[queue]
            if queue == self._own:
                yield waiting.pop(0)
                continue
            share = self._shares.share(self._own)
            while waiting:
                gang = waiting.pop(0)
                if share <= self._shares.share(queue, without=gang.gpus):
                    yield gang
                    break
                spared.append(gang)

    def _by_initial_share(self, spared: Sequence[Running]) -> Iterator[Running]:
        """Yield the first gang of each queue whose share is larger than that of the pending gang's queue."""
        queues = _Queues(spared, self._shares, self._own)
        while (queue := queues.largest()) is not None:
            gang = queues.of.pop(queue)[0]
            if self._shares.share(self._own) < self._shares.share(queue):
                yield gang

    def _stop(self, gang: Running) -> None:
        self._room.stop(gang)
        self._shares.stop(gang)

    def _resume(self, gang: Running) -> None:
        self._room.resume(gang)
        self._shares.resume(gang)


class _Queues:
    """The candidates in each queue, and the choice of the next queue."""

    def __init__(self, order: Sequence[Running], shares: Quotas, own: str) -> None:
        self.of: dict[str, list[Running]] = {}
        for gang in order:
            self.of.setdefault(gang.queue, []).append(gang)
        self._rank = {gang.name: rank for rank, gang in enumerate(order)}
        self._shares, self._own = shares, own

    def largest(self) -> str | None:
        """Return the queue with the largest share; ties go to the queue of the first candidate."""
        for queue in [queue for queue, gangs in self.of.items() if not gangs]:
            del self.of[queue]
        for queue in [queue for queue in self.of if queue != self._own and not self._shares.exceeded(queue)]:
            del self.of[queue]
        return min(self.of, key=self._key, default=None)

    def _key(self, queue: str) -> tuple[object, ...]:
        first = self.of[queue][0]
        return (
            -self._shares.share(queue),
            queue == self._own,
            *least_important_first(first),
            self._rank[first.name],
        )
