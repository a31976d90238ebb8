"""Search: all orders in which jobs start, and all cells that they use, in whole numbers of any size."""

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from formulations.waiting.best import BestRuns
from gsopt.problems.waiting import CellShare

#: States that are remembered, at most.
_MOST_SEEN = 200_000

#: Ways to take a job's GPUs from the cells, at most: each is looked at in every state.
_MOST_WAYS = 1_000


class PartialSchedule(NamedTuple):
    """What has been decided: some jobs have started, none after now."""

    now: int  # slot of the last start
    free: tuple[tuple[int, ...], ...]  # first free slot of each GPU of each cell, ascending
    left: tuple[int, ...]  # numbers of the jobs that are still to start
    paid: int  # sum of the ends so far, or the last of them
    shares: tuple[CellShare, ...]  # what has started, in order


class DepthFirstSearch:
    """Depth first over the next job to start, and how many GPUs of each cell it takes.

    Some best schedule starts each job as early as the jobs before it in the order of starts allow, on those
    GPUs of its cells that are free first: GPUs that are free by then make no difference to anybody later. Left
    out is what cannot be better than the best schedule known (`is_hopeless`), of jobs that are alike all orders
    but one (`is_twin`), and what differs from something seen by groups of GPUs that are alike (`is_seen`).

    It counts in whole slots of which all times are multiples, so what it proves is exact.
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
        """Search and keep what is found; return whether so many states covered the whole search."""
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
        """Return what a schedule has to pay less than, in slots."""
        value = Fraction(self.best.known_value)
        if self.last:
            return value / self.instance.slot
        return value * len(self.shortest) / self.instance.slot + sum(self.instance.release)

    def _extend(self, state: PartialSchedule) -> bool:
        """Search what a state may become; return whether that was completed."""
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
        """Count the combinations of cells that give so many GPUs."""
        counts = [1] + [0] * need
        for size in self.instance.sizes:
            counts = [sum(counts[max(0, count - size) : count + 1]) for count in range(need + 1)]
        return counts[need]

    def _counts(self, need: int, first: int) -> Iterator[dict[int, int]]:
        """Enumerate the numbers of GPUs to take of the cells from one on."""
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
        """Check whether no schedule of a state can be better than the best one known.

        Of the jobs that are left, so many have ended at any time as could have been alone on their best tiers,
        and as the GPU time since they were free is enough for.
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
        """Check whether one of other jobs is the same but for its name."""
        return any(self.kinds[other] == self.kinds[job] for other in others)

    def is_seen(self, state: PartialSchedule) -> bool:
        """Check whether one before a state was no worse, but for which of equal groups of GPUs is which."""
        key = (state.now, frozenset(state.left), self._shape(state))
        if self.seen.get(key, state.paid + 1) <= state.paid:
            return True
        if key in self.seen or len(self.seen) < _MOST_SEEN:
            self.seen[key] = state.paid
        return False

    def _shape(self, state: PartialSchedule) -> Any:
        """Describe when GPUs are free, by group within group, none by its number."""
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
    """Return the first slot by which GPUs that are ready from some slots on have done so much."""
    done = 0
    for count, slot in enumerate(ready, start=1):
        done += slot
        end = -(-(area + done) // count)
        if count == len(ready) or end <= ready[count]:
            return end
    raise AssertionError  # there are GPUs
