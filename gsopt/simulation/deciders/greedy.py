"""Greedy: the jobs of the smallest keys run, whichever fits."""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from typing import Any

from gsopt.simulation.deciders.types import refuse_types
from gsopt.simulation.deciders.waiting import Waiting
from gsopt.simulation.policy import Action, Start, State, Stop


class Greedy:
    """Keep running what a scan of all jobs in key order would choose; a job that does not fit is skipped.

    At each decision the set is repaired instead of scanned: while some waiting job fits beside the running
    jobs of smaller keys, it replaces running jobs of larger keys, the largest first. The repair ends in the
    scanned set, because that set is the only one in which no waiting job fits beside the chosen jobs before
    it. The key of a running job may fall by itself; `rekey` must be called where it rises.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    key
        Key of a job now; that of a waiting job does not change.
    """

    preemptive = True

    def __init__(self, state: State, key: Callable[[int], Any]) -> None:
        self._jobs = state.jobs
        self._key = key
        self.waiting = Waiting(state.jobs)
        self._ranked: list[tuple[Any, int]] = []  # running jobs by the key last looked at
        self._rank: dict[int, tuple[Any, int]] = {}

    def decide(self, state: State) -> Iterable[Action]:
        """Repair the set of running jobs."""
        self.update(state)
        return self.repair(state)

    def update(self, state: State) -> None:
        """Take in what happened since the last decision."""
        refuse_types(state)
        for job in state.completed + state.evicted:
            if job in self._rank:
                self._leave(job)
        for job in state.arrived + state.evicted:
            self.waiting.add(job, self._key(job))

    def rekey(self, job: int) -> None:
        """Look at the key of a running or waiting job again."""
        if job in self._rank:
            self._leave(job)
            self._join(job)
        else:
            self.waiting.add(job, self._key(job))

    def rekey_running(self) -> None:
        """Look at the keys of all running jobs again."""
        self._rank = {job: (self._key(job), job) for job in self._rank}
        self._ranked = sorted(self._rank.values())

    def repair(self, state: State) -> list[Action]:
        """Give the stops and starts that lead to the set that a scan would choose."""
        free = state.free
        stopped: dict[int, None] = {}
        started: dict[int, None] = {}
        while (swap := self._swap(free)) is not None:
            enters, leave = swap
            self.waiting.remove(enters)
            for job in leave:
                self._leave(job)
                self.waiting.add(job, self._key(job))
                _toggle(job, started, stopped)
                free += self._jobs[job].gpus
            self._join(enters)
            _toggle(enters, stopped, started)
            free -= self._jobs[enters].gpus
        return [*map(Stop, stopped), *map(Start, started)]

    def _swap(self, free: int) -> tuple[int, list[int]] | None:
        """Find the first waiting job that fits, and the running jobs that have to leave for it."""
        for key, job in sorted(self.waiting.heads()):
            need = self._jobs[job].gpus - free
            if need <= 0:
                return job, []
            leave = self._worse_than((key, job), need)
            if leave:
                return job, leave
        return None

    def _worse_than(self, rank: tuple[Any, int], need: int) -> list[int]:
        """Find the worst running jobs, all worse than a rank, that hold `need` GPUs; none if too few do."""
        leave: list[int] = []
        position = len(self._ranked) - 1
        while position >= 0 and self._ranked[position] > rank:
            job = self._ranked[position][1]
            if self._refresh(job, position):
                continue  # another job may stand here now
            leave.append(job)
            need -= self._jobs[job].gpus
            if need <= 0:
                return leave
            position -= 1
        return []

    def _refresh(self, job: int, position: int) -> bool:
        """Update the rank of the job at a position; tell whether it changed."""
        fresh = (self._key(job), job)
        if fresh == self._rank[job]:
            return False
        del self._ranked[position]
        self._rank[job] = fresh
        insort(self._ranked, fresh)
        return True

    def _join(self, job: int) -> None:
        rank = (self._key(job), job)
        self._rank[job] = rank
        insort(self._ranked, rank)

    def _leave(self, job: int) -> None:
        del self._ranked[bisect_left(self._ranked, self._rank.pop(job))]


def _toggle(job: int, undone: dict[int, None], done: dict[int, None]) -> None:
    """Plan a job's change, or drop the opposite change planned before it."""
    if job in undone:
        del undone[job]
    else:
        done[job] = None
