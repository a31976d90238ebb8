"""Filling: a loop that places groups of identical workers in turn, on the servers with the lowest scores."""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import NoSolution
from gsopt.problems.placement import Placed, Placement, PlacementSolution, Pool
from heuristics.placement.serving import Integers, Need, Scores, ServersLeft, serve

#: Rates servers for a worker, as described in `heuristics.placement.scores`.
Score = Callable[[Any, Any, Any], Any]

#: Roles of servers: training servers, and inference servers that are empty, that hold only flexible workers,
#: or that hold other workers.
_TRAINING, _EMPTY, _FLEXIBLE, _OTHER = range(4)

#: Rank of each role for inelastic, base and flexible workers; lower ranks are preferred.
_KINDS = ("inelastic", "base", "flexible")
_RANKS = np.array([[0, 1, 2, 1], [1, 0, 2, 0], [1, 0, 0, 2]])

#: `_RANK_STEP` exceeds any score, so a better rank always wins. `_NONE` marks servers without room.
_RANK_STEP, _NONE = 1 << 50, 1 << 60

_POOLS: dict[bool, tuple[Pool, Pool]] = {
    True: ("inference", "training"),  # for elastic jobs
    False: ("training", "inference"),
}


def fill(
    problem: Placement,
    order: Sequence[int],
    score: Score,
    *,
    one_by_one: bool = False,
    budget: Budget = UNLIMITED,
) -> PlacementSolution | NoSolution:
    """Place the lines in a given order, each worker on the server with the lowest score, the first one if tied.

    A line is an entry of `Placement.workers`. If the objective is ``"preferences"``, workers use their
    preferred servers first: training servers for inelastic workers, and inference servers for the others, with
    base and flexible workers on different servers. Next, they use the other pool, and finally servers that
    flexible workers would share with others. If jobs must not be split, all lines of a job are placed together,
    in its preferred pool or, if they do not fit there, in the other pool.

    With `one_by_one`, a new choice is made for every worker. Otherwise, the workers of a line fill a server
    before the next server is chosen.

    If the problem requires more than amounts (`Placement.beyond_amounts`), `heuristics.placement.serving.serve`
    places the workers one by one, without preferences. A part of a GPU is then taken from the shared GPU with
    the least left that suffices, or else from a free GPU.

    Raises
    ------
    TimeUp
        The time limit passes before all workers are placed one by one, although none may stay unplaced.
    Unsupported
        The objective is ``"preferences"``, and the problem requires more than amounts.
    """
    if problem.beyond_amounts:
        return _fill_gpus(problem, order, score, budget)
    if problem.misfit:
        return NoSolution(problem.misfit, proven=True)
    servers = _FillingServers(problem, score, one_by_one=one_by_one)
    if problem.split_jobs:
        for _, lines in groupby(
            order, key=lambda line: (problem.workers[line].demand, problem.workers[line].kind)
        ):
            if budget.passed:
                break
            servers.place(list(lines))
    else:
        for job in _jobs(problem, order):
            if budget.passed:
                break
            servers.place_together(job)
    placed = sum(entry.number for entry in servers.placed)
    workers = sum(line.count for line in problem.workers)
    if placed < workers:
        return NoSolution(f"{workers - placed:,} of {workers:,} workers remain unplaced")
    return PlacementSolution(placed=tuple(servers.placed))


def _fill_gpus(
    problem: Placement, order: Sequence[int], score: Score, budget: Budget
) -> PlacementSolution | NoSolution:
    """Place workers one by one, and score servers by the free capacity of all their GPUs."""
    if problem.minimize == "preferences":
        raise Unsupported(f"{problem.beyond_amounts}, and preferences are minimized; use milp")

    def rule(left: ServersLeft, need: Need, servers: Integers) -> tuple[Scores, Integers]:
        gpus = left.thousandths(servers)
        return score(gpus, left.empty[servers], servers), left.tightest(need, servers)

    return serve(problem, rule, budget=budget, order=order)


def _jobs(problem: Placement, order: Iterable[int]) -> Iterable[list[int]]:
    """Return the lines of each job. Jobs are in the order of their first lines."""
    jobs: dict[str, list[int]] = {}
    for line in order:
        jobs.setdefault(problem.workers[line].job, []).append(line)
    return jobs.values()


class _FillingServers:
    """The servers as they fill up."""

    def __init__(self, problem: Placement, score: Score, *, one_by_one: bool) -> None:
        hosts = list(problem.hosts.values())
        inference = np.array([host.pool == "inference" for host in hosts])
        used = np.array([host.in_use for host in hosts])
        preferring = problem.minimize == "preferences"
        self.placed: list[Placed] = []
        self._names = list(problem.hosts)
        self._lines = problem.workers
        self._demands = problem.demands
        self._needs = np.array(problem.demands, dtype=np.int64).reshape(-1, len(problem.resources))
        self._score = score
        self._one_by_one = one_by_one
        self._pool: dict[Pool, NDArray[np.bool_]] = {"training": ~inference, "inference": inference}
        self._free = np.repeat(problem.rooms, [server.count for server in problem.servers], axis=0).T.copy()
        self._empty = ~used
        self._role = np.where(inference, np.where(used, _OTHER, _EMPTY), _TRAINING)
        scores = score(self._free[0], self._empty, np.arange(len(hosts)))
        self._ranks = _RANK_STEP * (_RANKS if preferring else np.zeros((1, 4), dtype=np.int64))
        self._scores = scores + self._ranks[:, self._role]

    def place(self, lines: Sequence[int], among: NDArray[np.bool_] | None = None) -> bool:
        """Place the workers of identical lines, and return whether all of them were placed."""
        workers = self._lines[lines[0]]
        own_scores = self._scores[_KINDS.index(workers.kind) % len(self._scores)]
        needs = [(free, need) for free, need in zip(self._free, self._demands[lines[0]], strict=True) if need]
        suits = np.ones(own_scores.size, dtype=np.bool_) if among is None else among.copy()
        for free, need in needs:
            suits &= free >= need
        scores = np.where(suits, own_scores, _NONE)
        server, room = -1, 0
        for line in lines:
            left = self._lines[line].count
            while left:
                if room == 0 or self._one_by_one:
                    server = int(scores.argmin())
                    if scores[server] == _NONE:
                        return False
                    room = min(int(free[server]) // need for free, need in needs)
                number = 1 if self._one_by_one else min(left, room)
                self._put(line, server, number)
                left, room = left - number, room - number
                scores[server] = own_scores[server] if room else _NONE
        return True

    def place_together(self, job: Sequence[int]) -> None:
        """Place all workers of a job in its preferred pool, else all in the other pool, else none."""
        before = self._free, self._empty, self._role, self._scores
        for pool in _POOLS[self._lines[job[0]].kind != "inelastic"]:
            self._free, self._empty, self._role, self._scores = (array.copy() for array in before)
            entries = len(self.placed)
            if all(self.place([line], self._pool[pool]) for line in job):
                return
            del self.placed[entries:]
        self._free, self._empty, self._role, self._scores = before

    def _put(self, line: int, server: int, number: int) -> None:
        workers = self._lines[line]
        self._free[:, server] -= self._needs[line] * number
        self._empty[server] = False
        role = self._role[server]
        if workers.kind != "flexible" and role != _TRAINING:
            self._role[server] = role = _OTHER
        elif role == _EMPTY:
            self._role[server] = role = _FLEXIBLE
        self._scores[:, server] = self._score(int(self._free[0, server]), False, server) + self._ranks[:, role]
        self.placed.append(Placed(self._names[server], line, number))
