"""Waiting: jobs that wait, by key, so that no policy scans them all at an event."""

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
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

    def __init__(self, jobs: Sequence[Job], demand: Sequence[int] | None = None) -> None:
        self._demand = [job.gpus for job in jobs] if demand is None else demand
        self._heaps: dict[int, list[tuple[Any, int]]] = {}
        self._keys: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, job: int, key: Any) -> None:
        """Add a job, or give a job that waits another key."""
        self._keys[job] = key
        heappush(self._heaps.setdefault(self._demand[job], []), (key, job))

    def remove(self, job: int) -> None:
        """Remove a job."""
        del self._keys[job]

    def heads(self) -> Iterator[tuple[Any, int]]:
        """Give the first job of every demand with its key."""
        for heap in self._heaps.values():
            while heap and self._keys.get(heap[0][1]) != heap[0][0]:
                heappop(heap)
            if heap:
                yield heap[0]

    def pop_fitting(self, free: int) -> int | None:
        """Remove and give the first job that demands at most `free` GPUs."""
        fitting = [head for head in self.heads() if self._demand[head[1]] <= free] if free else []
        if not fitting:
            return None
        job = min(fitting)[1]
        self.remove(job)
        return job
