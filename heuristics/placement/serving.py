"""Serving: a loop that places workers one by one on servers, and on GPUs if they need part of one."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gsopt.core.budget import Budget
from gsopt.core.errors import TimeUp
from gsopt.core.method import NoSolution
from gsopt.problems.placement import (
    WHOLE_GPU,
    Placed,
    PlacedPart,
    Placement,
    PlacementSolution,
    Vector,
    Workers,
)

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
Scores = NDArray[np.float64] | NDArray[np.int64]

#: Used instead of the index of a shared GPU. `FREE_GPU`: the worker gets its part from a GPU that nobody
#: uses. `NO_PART`: the worker needs no part of a GPU.
FREE_GPU, NO_PART = -1, -2

#: Number of score levels in Kubernetes schedulers, to which some heuristics can round.
LEVELS = 100

#: Number of workers placed between two checks of the time limit.
_OFTEN = 64


class Need(NamedTuple):
    """What one worker needs: amounts of resources, thousandths of one GPU, and accepted GPU types."""

    amounts: Vector
    part: int
    types: tuple[str, ...]

    @classmethod
    def of(cls, line: Workers, amounts: Vector) -> "Need":
        """Return what one worker of a line needs."""
        return cls(amounts, line.gpu_part, tuple(line.gpu_types))

    @property
    def thousandths(self) -> int:
        """GPU capacity needed, in thousandths of a GPU."""
        return self.amounts[0] * WHOLE_GPU + self.part

    @property
    def tag(self) -> str:
        """Key of the workers that `heuristics.placement.gpu_clustering` treats alike.

        These are workers that need the same number of GPUs, or workers that need part of a GPU. The key is
        empty for workers that need no GPUs.
        """
        return "part" if self.part else f"{self.amounts[0]}" if self.amounts[0] else ""


@dataclass(eq=False)
class ServersLeft:
    """The remaining resources of every server, and of every GPU that workers share."""

    free: Integers  # free amounts by resource and server; the first resource is the GPUs that nobody uses
    shared: Integers  # free thousandths by server and shared GPU; 0 after the server's last shared GPU
    number_shared: Integers  # number of shared GPUs on each server
    capacity: Integers  # total amounts by resource and server
    empty: NDArray[np.bool_]  # whether no worker runs on the server
    gpu_types: NDArray[np.str_]
    tags: list[set[str]]  # tags of the workers on each server; see `Need.tag`

    @classmethod
    def of(cls, problem: Placement) -> "ServersLeft":
        """Return the remaining resources of a problem's servers before any worker is placed."""
        hosts = list(problem.hosts.values())
        counts = [server.count for server in problem.servers]
        shared = np.zeros(
            (len(hosts), max((len(host.shared) for host in hosts), default=0) + 1), dtype=np.int64
        )
        for server, host in enumerate(hosts):
            shared[server, : len(host.shared)] = [host.left(gpu) for gpu in range(len(host.shared))]
        capacity = [server.capacity.vector(problem.resources) for server in problem.servers]
        return cls(
            free=np.repeat(np.array(problem.rooms, dtype=np.int64), counts, axis=0).T.copy(),
            shared=shared,
            number_shared=np.array([len(host.shared) for host in hosts], dtype=np.int64),
            capacity=np.repeat(np.array(capacity, dtype=np.int64), counts, axis=0).T.copy(),
            empty=np.array([not host.in_use for host in hosts]),
            gpu_types=np.array([host.gpu_type for host in hosts]),
            tags=[{"part"} if host.shared else set() for host in hosts],
        )

    def suiting(self, need: Need) -> NDArray[np.bool_]:
        """Return whether each server has GPUs of a type that the workers accept."""
        if not need.types:
            return np.ones(self.gpu_types.size, dtype=np.bool_)
        return np.isin(self.gpu_types, need.types)

    def room(self, need: Need, servers: Integers) -> NDArray[np.bool_]:
        """Return whether each of the given servers has room for a worker, regardless of GPU types."""
        enough = np.ones(servers.size, dtype=np.bool_)
        for row, amount in zip(self.free, need.amounts, strict=True):
            if amount:
                enough &= row[servers] >= amount
        if need.part:
            enough &= (self.free[0, servers] > 0) | (self.shared[servers].max(axis=1) >= need.part)
        return enough

    def tightest(self, need: Need, servers: Integers) -> Integers:
        """Return, for each given server, the shared GPU with the least left that can hold the worker's part.

        The entry is `FREE_GPU` if no shared GPU can hold it, and `NO_PART` if the worker needs no part.
        """
        if not need.part:
            return np.full(servers.size, NO_PART)
        left = self.shared[servers]
        left = np.where(left >= need.part, left, WHOLE_GPU)
        gpus = left.argmin(axis=1)
        return np.where(left[np.arange(servers.size), gpus] < WHOLE_GPU, gpus, FREE_GPU)

    def drawn(self, need: Need, servers: Integers, random: np.random.Generator) -> Integers:
        """Return, for each given server, a random GPU that can hold the worker's part.

        The entry is `FREE_GPU` for a GPU that nobody uses, and `NO_PART` if the worker needs no part.
        """
        if not need.part:
            return np.full(servers.size, NO_PART)
        roomy = self.shared[servers] >= need.part
        last = roomy.sum(axis=1)
        number = random.integers(last + self.free[0, servers])  # among the shared ones with room, or beyond
        nth = roomy & (roomy.cumsum(axis=1) == number[:, None] + 1)
        return np.where(number < last, nth.argmax(axis=1), FREE_GPU)

    def thousandths(self, servers: Integers) -> Integers:
        """Return the free GPU capacity of the given servers, in thousandths of a GPU."""
        left: Integers = self.free[0, servers] * WHOLE_GPU + self.shared[servers].sum(axis=1)
        return left

    def put(self, need: Need, server: int, gpu: int) -> int:
        """Place a worker on a server; return the index of the GPU from which it gets a part, or `NO_PART`."""
        self.free[:, server] -= np.array(need.amounts, dtype=np.int64)
        self.empty[server] = False
        if need.tag:
            self.tags[server].add(need.tag)
        if not need.part:
            return gpu
        if gpu == FREE_GPU:
            gpu = int(self.number_shared[server])
            if gpu == self.shared.shape[1]:
                self.shared = np.pad(self.shared, ((0, 0), (0, gpu)))
            self.free[0, server] -= 1
            self.number_shared[server] += 1
            self.shared[server, gpu] = WHOLE_GPU
        self.shared[server, gpu] -= need.part
        return gpu


def shares(left: ServersLeft, need: Need, servers: Integers) -> Iterator[tuple[Reals, float]]:
    """Yield, for GPUs and CPUs, the servers' free amounts and the need, as shares of the largest capacity."""
    gpus, cpus = (int(row.max(initial=0)) for row in left.capacity[:2])
    if gpus:
        yield left.thousandths(servers) / (gpus * WHOLE_GPU), need.thousandths / (gpus * WHOLE_GPU)
    if cpus:
        yield left.free[1, servers] / cpus, need.amounts[1] / cpus


#: Rates the given servers, all of which have room, for a worker. Returns the scores, of which the lowest is
#: best, and the GPU on each server from which the worker would get a part: a shared GPU, `FREE_GPU` or
#: `NO_PART`. The score of a server must depend only on what it has left.
Rule = Callable[[ServersLeft, Need, Integers], tuple[Scores, Integers]]

#: Chooses a server, given the scores of all servers and whether each has room.
Choose = Callable[[Scores, NDArray[np.bool_]], int]


def lowest(scores: Scores, roomy: NDArray[np.bool_]) -> int:
    """Return the first of the servers with room that have the lowest score."""
    among = np.flatnonzero(roomy)
    return int(among[scores[among].argmin()])


def serve(
    problem: Placement,
    rule: Rule,
    *,
    budget: Budget,
    order: Iterable[int] | None = None,
    choose: Choose = lowest,
) -> PlacementSolution | NoSolution:
    """Place the workers line by line, each on the server that `choose` selects by a rule's scores.

    By default, the server with the lowest score is selected, and lines (entries of `Placement.workers`) are
    placed in the order given by the problem. If jobs must not be split, the first worker of a job determines
    its pool. Workers for which there is no room, or no time, stay unplaced if the problem allows it.

    Raises
    ------
    TimeUp
        The time limit passes before all workers are placed, although none may stay unplaced.
    """
    if problem.misfit:
        return NoSolution(problem.misfit, proven=True)
    serving = _Serving(problem, rule, choose)
    may_miss = problem.minimize == "unallocated"
    looks = unplaced = 0
    for line in range(len(problem.workers)) if order is None else order:
        for worker in range(problem.workers[line].count):
            looks += 1
            if looks % _OFTEN == 0 and budget.passed:
                if may_miss:
                    return serving.solution
                raise TimeUp("the time limit passed before all workers were placed")
            if not serving.place(line):  # nor is there room for the line's other workers
                unplaced += problem.workers[line].count - worker
                break
    if unplaced and not may_miss:
        workers = sum(line.count for line in problem.workers)
        return NoSolution(f"{unplaced:,} of {workers:,} workers remain unplaced")
    return serving.solution


@dataclass(eq=False)
class _Known:
    """Scores for workers with the same need, as they were after the first `time` workers had been placed."""

    suiting: NDArray[np.bool_]
    scores: Scores
    gpus: Integers
    roomy: NDArray[np.bool_]
    time: int


class _Serving:
    """The workers placed so far, and the scores of servers for the next ones."""

    def __init__(self, problem: Placement, rule: Rule, choose: Choose) -> None:
        self._rule, self._choose = rule, choose
        self._needs = [
            Need.of(line, demand) for line, demand in zip(problem.workers, problem.demands, strict=True)
        ]
        self._names = list(problem.hosts)
        self._jobs = [line.job for line in problem.workers]
        self._together = not problem.split_jobs
        self._inference = np.array([host.pool == "inference" for host in problem.hosts.values()])
        self._pool_of: dict[str, bool] = {}  # by job, whether it runs on inference servers
        self._left = ServersLeft.of(problem)
        self._known: dict[Hashable, _Known] = {}
        self._changed = np.zeros(len(self._names), dtype=np.int64)  # time of each server's last change
        self._time = 0
        self._entries: Counter[tuple[int, int, int]] = Counter()

    def place(self, line: int) -> bool:
        """Place one worker of a line, and return whether there was room."""
        need = self._needs[line]
        known = self._up_to_date(need)
        roomy, job = known.roomy, self._jobs[line]
        if self._together and job in self._pool_of:
            roomy = roomy & (self._inference == self._pool_of[job])
        if not roomy.any():
            return False
        server = self._choose(known.scores, roomy)
        self._pool_of[job] = bool(self._inference[server])
        gpu = self._left.put(need, server, int(known.gpus[server]))
        self._time += 1
        self._changed[server] = self._time
        self._entries[server, gpu, line] += 1
        return True

    def _up_to_date(self, need: Need) -> _Known:
        known = self._known.get(need)
        if known is None:
            suiting = self._left.suiting(need)
            stale = np.flatnonzero(suiting)
        else:
            suiting = known.suiting
            stale = np.flatnonzero(suiting & (self._changed > known.time))
        roomy = self._left.room(need, stale)
        scores, gpus = self._rule(self._left, need, stale[roomy])
        if known is None:
            size = len(self._names)
            none: Any = np.zeros(size, scores.dtype)
            known = _Known(suiting, none, np.zeros(size, np.int64), np.zeros(size, np.bool_), 0)
            self._known[need] = known
        known.roomy[stale] = roomy
        known.scores[stale[roomy]] = scores
        known.gpus[stale[roomy]] = gpus
        known.time = self._time
        return known

    @property
    def solution(self) -> PlacementSolution:
        """The workers placed so far."""
        whole: Counter[tuple[int, int]] = Counter()
        for (server, gpu, line), number in self._entries.items():
            if gpu == NO_PART:
                whole[server, line] += number
        return PlacementSolution(
            placed=tuple(Placed(self._names[server], line, number) for (server, line), number in whole.items()),
            parts=tuple(
                PlacedPart(self._names[server], gpu, line, number)
                for (server, gpu, line), number in self._entries.items()
                if gpu != NO_PART
            ),
        )
