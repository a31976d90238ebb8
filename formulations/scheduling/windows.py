"""Windows: the times at which each job can complete in an optimal schedule, and known orders of jobs."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from formulations.scheduling.instance import Instance

#: The earliest and the latest completion, in seconds on the instance's clock.
Span = tuple[float, float]


@dataclass(frozen=True)
class Windows:
    """Completion windows and orders of jobs that hold in some optimal schedule."""

    spans: tuple[Span, ...]  # earliest and latest completion of each job
    # pairs of jobs; the first job of each pair completes no later than the second
    orders: frozenset[tuple[int, int]] = frozenset()

    @classmethod
    def of(
        cls, instance: Instance, total: float, orders: frozenset[tuple[int, int]] = frozenset()
    ) -> "Windows":
        """Return the windows that follow from the deadlines and from a limit on the sum of completion times.

        A job completes latest if all other jobs complete as early as if each were alone.
        """
        jobs = range(len(instance))
        slack = total - sum(map(instance.earliest, jobs))
        latest = [min(instance.earliest(job) + slack, instance.deadline[job]) for job in jobs]
        spans = ((instance.earliest(job), max(latest[job], instance.earliest(job))) for job in jobs)
        return cls(tuple(spans), orders)

    def narrowed(self, spans: Sequence[Span], orders: Collection[tuple[int, int]] = ()) -> "Windows":
        """Return the windows intersected with the windows in `spans`, and with the given orders added.

        A window stays the same if its intersection is empty.
        """
        pairs = zip(self.spans, spans, strict=True)
        both = [(own, (max(own[0], other[0]), min(own[1], other[1]))) for own, other in pairs]
        kept = tuple(cut if cut[0] <= cut[1] else own for own, cut in both)
        return Windows(kept, self.orders | frozenset(orders))

    @cached_property
    def before(self) -> NDArray[np.bool_]:
        """Whether one job (row) is known to complete no later than another (column), shape (jobs, jobs)."""
        low, high = np.array(self.spans).T
        found: NDArray[np.bool_] = high[:, None] < low[None, :]
        for first, second in self.orders:
            found[first, second] = True
        for job in range(len(self.spans)):
            found |= found[:, [job]] & found[[job], :]
        return found

    def places(self, job: int) -> tuple[int, int]:
        """Return the first and the last position, counted from 0, at which a job can complete."""
        earlier, later = self.before[:, job].sum(), self.before[job].sum()
        return int(earlier), len(self.spans) - 1 - int(later)

    @property
    def needed(self) -> tuple[tuple[int, int], ...]:
        """The orders that are implied neither by other orders nor by the windows."""
        spans, before = self.spans, self.before
        close = [(i, j) for i, j in self.orders if not spans[i][1] < spans[j][0]]
        return tuple(sorted((i, j) for i, j in close if not (before[i] & before[:, j]).any()))

    @cached_property
    def undecided(self) -> tuple[tuple[int, int], ...]:
        """Pairs of jobs that may complete in either order, with the smaller number first."""
        pairs = combinations(range(len(self.spans)), 2)
        return tuple((i, j) for i, j in pairs if not (self.before[i, j] or self.before[j, i]))
