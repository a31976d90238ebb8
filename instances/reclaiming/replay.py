"""Replay: a workload that runs on a cluster and can be advanced to any time."""

from collections import deque
from heapq import heapify, heappop, heappush, heapreplace
from random import Random

from gsopt.scenario.job import Job, Workload
from instances.reclaiming.best_fit import BestFit
from instances.reclaiming.layout import Placement
from instances.reclaiming.workers import Mode, draw_worker_size, split

#: GPUs of a job and of each worker. If one job of a shape does not fit, no other one does.
_Shape = tuple[int, int]


class ServerReplay:
    """A workload running on eight-GPU servers, first come first served with backfilling.

    A job starts as soon as all its workers fit. They are placed by best fit, largest workers first. Jobs that
    do not fit wait. At every departure, they are tried in order of arrival. Later jobs may overtake a waiting
    job, so a large job may wait for a long time on a crowded cluster. A job larger than the cluster is left
    out.

    Attributes
    ----------
    running
        Placements of the running jobs, keyed by job name, in the order in which the jobs started.
    left_out
        Names of the jobs that are larger than the cluster.
    """

    def __init__(self, workload: Workload, servers: int, mode: Mode = "packed", seed: int = 0) -> None:
        self.running: dict[str, Placement] = {}
        self.left_out: list[str] = []
        self._cluster = BestFit(servers)
        self._capacity = self._cluster.free_gpus
        self._arrivals = deque(workload.jobs)
        self._ends: list[tuple[float, int, str]] = []
        self._waiting: dict[_Shape, deque[tuple[int, Job]]] = {}
        self._arrived = 0
        self._mode = mode
        self._random = Random(seed)

    @property
    def waiting(self) -> int:
        """Number of jobs that have arrived and wait for GPUs."""
        return sum(map(len, self._waiting.values()))

    def advance(self, time: float) -> None:
        """Process all events up to and including a time in seconds; at equal times, departures come first."""
        while True:
            arrival = self._arrivals[0].release_date if self._arrivals else None
            end = self._ends[0][0] if self._ends else None
            if end is not None and end <= time and (arrival is None or end <= arrival):
                self._depart(end)
            elif arrival is not None and arrival <= time:
                self._arrive(self._arrivals.popleft())
            else:
                return

    def _arrive(self, job: Job) -> None:
        if job.gpus > self._capacity:
            self.left_out.append(job.name)
            return
        shape = job.gpus, draw_worker_size(job.gpus, self._mode, self._random)
        order = self._arrived
        self._arrived += 1
        if shape in self._waiting or not self._start(job, shape, order, job.release_date):
            self._waiting.setdefault(shape, deque()).append((order, job))

    def _depart(self, end: float) -> None:
        while self._ends and self._ends[0][0] == end:
            _, _, name = heappop(self._ends)
            self._cluster.release(self.running.pop(name))
        self._start_waiting(end)

    def _start_waiting(self, now: float) -> None:
        """Start the waiting jobs that fit, in order of arrival."""
        first = [(queue[0][0], shape) for shape, queue in self._waiting.items()]
        heapify(first)
        while first and self._cluster.free_gpus:
            order, shape = first[0]
            queue = self._waiting[shape]
            if not self._start(queue[0][1], shape, order, now):
                heappop(first)
                continue
            queue.popleft()
            if queue:
                heapreplace(first, (queue[0][0], shape))
            else:
                del self._waiting[shape]
                heappop(first)

    def _start(self, job: Job, shape: _Shape, order: int, now: float) -> bool:
        placement = self._cluster.place(split(*shape)) if job.gpus <= self._cluster.free_gpus else None
        if placement is None:
            return False
        self.running[job.name] = placement
        heappush(self._ends, (now + job.duration, order, job.name))
        return True
