"""Quotas: the GPUs that queues use, compared with their nominal quotas."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from gsopt.core.numbers.grid import decimal
from gsopt.problems.admission import Gang, Running
from heuristics.admission.room import Room


class Quotas:
    """The GPUs that queues use, and their nominal quotas, while room is made for one pending gang.

    The pending gang itself counts only in methods that say so.
    """

    def __init__(
        self, room: Room, gang: Gang, nominal: Mapping[str, int], weights: Mapping[str, float] | None = None
    ) -> None:
        self._gang, self._nominal = gang, nominal
        self._weights = weights or {}
        self._used: Counter[str] = Counter()
        here = [each for each in room.problem.running if each.name not in room.stopped]
        for each in (*here, *room.settled):
            self._used[each.queue] += each.gpus

    def stop(self, gang: Running) -> None:
        """Subtract the GPUs of a gang that stops."""
        self._used[gang.queue] -= gang.gpus

    def resume(self, gang: Running) -> None:
        """Add the GPUs of a gang that resumes."""
        self._used[gang.queue] += gang.gpus

    def exceeded(self, queue: str) -> bool:
        """Check whether a queue uses more than its quota."""
        return self._used[queue] > self._nominal.get(queue, 0)

    def below_now(self) -> bool:
        """Check whether the pending gang's queue, without that gang, uses less than its quota."""
        return self._used[self._gang.queue] < self._nominal.get(self._gang.queue, 0)

    def excess(self) -> int:
        """Return by how many GPUs the pending gang's queue would exceed its quota with that gang.

        The number is negative if GPUs of the quota would be left.
        """
        queue = self._gang.queue
        return self._used[queue] + self._gang.gpus - self._nominal.get(queue, 0)

    def share(self, queue: str, *, without: int = 0) -> Fraction:
        """Return the GPUs that a queue uses beyond its quota, divided by its weight; 0 within the quota.

        If the pending gang belongs to the queue, its GPUs count as used. `without` is the number of GPUs in the
        queue that do not count.
        """
        own = self._gang.gpus if queue == self._gang.queue else 0
        beyond = self._used[queue] + own - without - self._nominal.get(queue, 0)
        return max(beyond, 0) / Fraction(decimal(self._weights.get(queue, 1)))
