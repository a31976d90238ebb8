"""Waiting: jobs that wait, by key, so that no policy scans them all at an event."""

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from math import inf
from typing import Any

from gsopt.job import Job


class Waiting:
    """Waiting jobs by key, the smallest first; ties go to the lower number.

    One heap per demand (the jobs' own GPUs when not given), so that the best job that fits is found in
    O(number of different demands).

    Examples
    --------
    >>> jobs = [Job(name=str(gpus), release_date=0, duration=1, gpus=gpus) for gpus in (4, 1, 2)]
    >>> waiting = Waiting(jobs)
    >>> for number, key in [(0, 1.0), (1, 3.0), (2, 2.0)]:
    ...     waiting.add(number, key)
    >>> waiting.pop_fitting(3), waiting.pop_fitting(8), waiting.pop_fitting(0)
    (2, 0, None)
    """

    def __init__(self, jobs: Sequence[Job], demand: Callable[[int], int] | None = None) -> None:
        self._demand = demand or (lambda job: jobs[job].gpus)
        self._heaps: dict[int, list[tuple[Any, int]]] = {}
        self._keys: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, job: int, key: Any) -> None:
        """Add a job, or give a job that waits another key."""
        self._keys[job] = key
        heappush(self._heaps.setdefault(self._demand(job), []), (key, job))

    def remove(self, job: int) -> None:
        """Remove a job."""
        del self._keys[job]

    def heads(self) -> Iterator[tuple[Any, int]]:
        """Give the first job of every demand with its key."""
        return self._heads(inf)

    def pop_fitting(self, free: int) -> int | None:
        """Remove and give the first job that demands at most `free` GPUs."""
        first = min(self._heads(free), default=None)
        if first is None:
            return None
        self.remove(first[1])
        return first[1]

    def _heads(self, most: float) -> Iterator[tuple[Any, int]]:
        for demand, heap in self._heaps.items():
            if demand <= most:
                while heap and self._keys.get(heap[0][1]) != heap[0][0]:
                    heappop(heap)
                if heap:
                    yield heap[0]
