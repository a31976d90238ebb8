"""Waiting: a queue of waiting jobs by key, which saves policies a scan of all jobs at every event."""

from collections.abc import Callable, Hashable
from heapq import heappop, heappush
from typing import Any

#: A key, followed by a tie-breaker: the number of a job, or an identifier of part of a job.
Rank = tuple[Any, Any]


class WaitingQueue:
    """The waiting jobs in ascending order of keys; ties go to the lower number.

    Jobs with the same needs belong to the same queue, which is stored as a heap. To find the first job that
    fits, only the first job of each queue is checked.

    Examples
    --------
    >>> waiting = WaitingQueue()
    >>> for job, gpus, key in [(0, 4, 1.0), (1, 1, 3.0), (2, 2, 2.0)]:
    ...     waiting.add(job, key, queue=gpus)
    >>> waiting.first(lambda gpus: gpus <= 3), waiting.first(lambda gpus: gpus <= 8)
    ((2.0, 2), (1.0, 0))
    """

    def __init__(self) -> None:
        self._heaps: dict[Hashable, list[Rank]] = {}
        self._keys: dict[Any, Any] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, job: object) -> bool:
        return job in self._keys

    def add(self, job: Any, key: Any, queue: Hashable) -> None:
        """Add a job to the `queue` of jobs with the same needs, or change its key if it is already there."""
        self._keys[job] = key
        heappush(self._heaps.setdefault(queue, []), (key, job))

    def remove(self, job: Any) -> None:
        """Remove a job."""
        del self._keys[job]

    def head(self, queue: Hashable) -> Rank | None:
        """Return the rank (key and job) of the first job in a queue, or None if all its jobs were removed.

        Raises
        ------
        KeyError
            No job was ever added to the queue.
        """
        heap, keys = self._heaps[queue], self._keys
        while heap and keys.get(heap[0][1]) != heap[0][0]:
            heappop(heap)
        return heap[0] if heap else None

    def heads(self) -> list[Rank]:
        """Return the rank (key and job) of the first job in every nonempty queue, in arbitrary order."""
        return [head for queue, heap in self._heaps.items() if heap and (head := self.head(queue)) is not None]

    def first(self, open_to: Callable[[Any], bool]) -> Rank | None:
        """Return the rank (key and job) of the first job in the queues that `open_to` accepts.

        The result is None if there is no job in these queues.
        """
        best = None
        for queue, heap in self._heaps.items():
            if heap and open_to(queue):
                head = self.head(queue)
                if head is not None and (best is None or head < best):
                    best = head
        return best
