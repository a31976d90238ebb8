"""Search: an exhaustive search over the order of starts and the cells of each job, in integers of any size."""

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from formulations.waiting.best import BestRuns
from gsopt.problems.waiting import CellShare

#: Maximum number of states that are remembered.
_MOST_SEEN = 200_000

#: Maximum number of ways to take a job's GPUs from the cells; every state examines all of them.
_MOST_WAYS = 1_000


class PartialSchedule(NamedTuple):
    """A partial schedule: some jobs have started, and the others start at `now` or later."""

    now: int  # slot of the last start
    free: tuple[tuple[int, ...], ...]  # first free slot of each GPU of each cell, ascending
    left: tuple[int, ...]  # the jobs that are still to start, by number
    paid: int  # sum of the ends so far, or the latest end
    shares: tuple[CellShare, ...]  # the jobs that have started, in order


class DepthFirstSearch:
    """A depth-first search over the next job to start, and the number of GPUs that it takes from each cell.

    Some optimal schedule starts each job as early as the previous starts allow, on those GPUs of its cells that
    become free first, because it makes no difference to later jobs which free GPUs are taken. The search prunes
    states that cannot lead to a better schedule than the best known one (`is_hopeless`), all but one order of
    identical jobs (`is_twin`), and states that are no better than an earlier one with which they agree up to a
    permutation of identical groups of GPUs (`is_seen`). Times are integer multiples of a common divisor, so
    proofs are exact.
    """

    def __init__(self, best: BestRuns) -> None:
        self.best, self.instance = best, best.instance
        self.last = best.problem.minimize == "makespan"
        jobs = range(len(self.instance.demand))
        self.shortest = [
            min(self.instance.length(job, place) for place in self.instance.places_of(job)) for job in jobs
        ]
        self.kinds = [
            (self.instance.release[job], self.instance.demand[job], self.instance.lengths[job]) for job in jobs
        ]
        starts = {cells.start: cell for cell, cells in enumerate(best.problem.cells)}
        self.groups = [
            [frozenset(cell for start, cell in starts.items() if start in group) for group in groups]
            for groups in best.problem.groups
        ]
        self.seen: dict[tuple[Any, ...], int] = {}
        self.nodes = 0

    def run(self, nodes: int) -> bool:
        """Search at most `nodes` states, keep the best schedule, and return whether the search is complete.

        Nothing is searched if there are more than 1,000 ways to take a job's GPUs from the cells.
        """
        if max(self._combinations(need) for need in self.instance.demand) > _MOST_WAYS:
            return False
        self.nodes = nodes
        free = tuple((0,) * size for size in self.instance.sizes)
        jobs = sorted(
            range(len(self.shortest)), key=lambda job: (self.instance.release[job], self.shortest[job])
        )
        if not self._extend(PartialSchedule(0, free, tuple(jobs), 0, ())):
            return False
        self.best.raise_bound(self.best.known_value)
        return True

    def limit(self) -> Fraction:
        """Return the sum of ends, or the last end, below which a schedule beats the best one, in slots."""
        value = Fraction(self.best.known_value)
        if self.last:
            return value / self.instance.slot
        return value * len(self.shortest) / self.instance.slot + sum(self.instance.release)

    def _extend(self, state: PartialSchedule) -> bool:
        """Search the successors of a state, and return whether the search was completed."""
        if not state.left:
            if state.paid < self.limit():
                self.best.take(self.best.problem.started(state.shares))
            return True
        for following in sorted(self._following(state), key=lambda each: (each.now, each.paid)):
            self.nodes -= 1
            if self.nodes < 0 or self.best.asked_to_stop or self.best.budget.passed:
                return False
            if self.is_hopeless(following) or self.is_seen(following):
                continue
            if not self._extend(following):
                return False
        return True

    def _following(self, state: PartialSchedule) -> Iterator[PartialSchedule]:
        for place, job in enumerate(state.left):
            if self.is_twin(job, state.left[:place]):
                continue
            left = state.left[:place] + state.left[place + 1 :]
            for counts in self._counts(self.instance.demand[job], 0):
                yield self._started(state, left, CellShare(job, counts))

    def _combinations(self, need: int) -> int:
        """Return the number of ways to take the given number of GPUs from the cells."""
        counts = [1] + [0] * need
        for size in self.instance.sizes:
            counts = [sum(counts[max(0, count - size) : count + 1]) for count in range(need + 1)]
        return counts[need]

    def _counts(self, need: int, first: int) -> Iterator[dict[int, int]]:
        """Yield all ways to take `need` GPUs from the cells with index `first` or higher, as counts by cell."""
        sizes = self.instance.sizes
        if not need:
            yield {}
        elif first < len(sizes):
            for count in range(min(need, sizes[first]), -1, -1):
                own = {first: count} if count else {}
                for others in self._counts(need - count, first + 1):
                    yield own | others

    def _started(self, state: PartialSchedule, left: tuple[int, ...], share: CellShare) -> PartialSchedule:
        job, counts = share
        ready = (state.free[cell][count - 1] for cell, count in counts.items())
        start = max(state.now, self.instance.release[job], *ready)
        end = start + self.instance.lengths[job][self._tier(counts)]
        free = list(state.free)
        for cell, count in counts.items():
            kept = list(free[cell][count:])
            for _ in range(count):
                insort(kept, end)
            free[cell] = tuple(kept)
        paid = max(state.paid, end) if self.last else state.paid + end
        return PartialSchedule(start, tuple(free), left, paid, (*state.shares, share))

    def _tier(self, counts: Mapping[int, int]) -> int:
        return next(
            tier for tier, groups in enumerate(self.groups) if any(counts.keys() <= group for group in groups)
        )

    # What is left out

    def is_hopeless(self, state: PartialSchedule) -> bool:
        """Check whether no schedule that continues a state can be better than the best known one.

        At any time, no more of the remaining jobs can have ended than if each ran alone on its best tier, and
        no more than the available GPU time allows.
        """
        ready = sorted(max(free, state.now) for cell in state.free for free in cell)
        alone = sorted(max(state.now, self.instance.release[job]) + self.shortest[job] for job in state.left)
        areas = sorted(self.shortest[job] * self.instance.demand[job] for job in state.left)
        done, ends = 0, []
        for area, end in zip(areas, alone, strict=True):
            done += area
            ends.append(max(end, first_slot(ready, done)))
        least = max([state.paid, *ends]) if self.last else state.paid + sum(ends)
        return least >= self.limit()

    def is_twin(self, job: int, others: Sequence[int]) -> bool:
        """Check whether a job is identical, except for its name, to any of the other given jobs."""
        return any(self.kinds[other] == self.kinds[job] for other in others)

    def is_seen(self, state: PartialSchedule) -> bool:
        """Check whether an equivalent earlier state was at least as good; if not, record the state."""
        key = (state.now, frozenset(state.left), self._shape(state))
        if self.seen.get(key, state.paid + 1) <= state.paid:
            return True
        if key in self.seen or len(self.seen) < _MOST_SEEN:
            self.seen[key] = state.paid
        return False

    def _shape(self, state: PartialSchedule) -> Any:
        """Return the times at which GPUs become free, nested by group and independent of group numbers."""
        shape: dict[frozenset[int], Any] = {
            cells: tuple(max(free, state.now) for cell in cells for free in state.free[cell])
            for cells in self.groups[0]
        }
        for groups in self.groups[1:]:
            shape = {
                group: tuple(sorted(own for inner, own in shape.items() if inner <= group)) for group in groups
            }
        return tuple(sorted(shape.values()))


def first_slot(ready: Sequence[int], area: int) -> int:
    """Return the first slot by which GPUs that become free at `ready` can have done the work `area`."""
    done = 0
    for count, slot in enumerate(ready, start=1):
        done += slot
        end = -(-(area + done) // count)
        if count == len(ready) or end <= ready[count]:
            return end
    raise AssertionError  # there are GPUs
