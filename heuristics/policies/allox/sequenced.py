"""Sequenced: AlloX's decider, which starts each GPU's jobs in the order that minimizes mean completion time."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gsopt.core.errors import Unsupported
from gsopt.core.numbers.assignment import sequence, shorter_first
from gsopt.simulation.parts.inventory import Inventory
from gsopt.simulation.policy import Action, State


class Sequenced:
    """A decider that orders waiting jobs on all GPUs, and starts the first job of each free GPU.

    The orders are recomputed from scratch whenever jobs wait and a GPU is free. Only the jobs of some users are
    ordered: of the users with waiting jobs, the fraction `alpha` with the least service, or more if these have
    fewer jobs than there are free GPUs. A job without an entry in `users` is its own user.
    """

    preemptive = False

    def __init__(self, state: State, *, alpha: float = 1.0, users: Mapping[str, str] | None = None) -> None:
        self._alpha, self._users = alpha, users or {}
        self._inventory = Inventory(state)
        self._waiting: dict[int, None] = {}
        self._kinds: dict[int, str] = {}  # of the running jobs
        self._service: dict[Any, Any] = {}  # of users by jobs that are complete

    def decide(self, state: State) -> Iterable[Action]:
        """Start the first job of each free GPU."""
        self._take_in(state)
        if not (self._waiting and state.free > 0):
            return
        self._inventory.look(state)
        started = self._first(state)
        if started:
            self._kinds |= started
            for job in started:
                del self._waiting[job]
            yield self._inventory.assign(state, self._kinds)

    def _take_in(self, state: State) -> None:
        for job in state.completed:
            user = self._user(state, job)
            self._service[user] = self._service.get(user, 0) + state.service(job)
            self._inventory.leave(job)
            self._kinds.pop(job, None)
        for job in state.evicted:
            del self._kinds[job]
        for job in state.arrived:
            require_one_gpu(state, job)
            self._inventory.enter(state, job)
        self._waiting |= dict.fromkeys((*state.evicted, *state.arrived))

    def _first(self, state: State) -> dict[int, str]:
        """Return the jobs that come first on free GPUs, with the kind of each of these GPUs."""
        machines = self._machines(state)
        jobs = self._entering(state, sum(not free for _, free in machines))
        kinds, available = [kind for kind, _ in machines], np.array([free for _, free in machines])
        seconds = self._seconds(state, jobs, kinds)
        runs = np.isfinite(seconds).any(axis=1)
        jobs, seconds = [jobs[row] for row in np.flatnonzero(runs)], seconds[runs]
        if not jobs:
            return {}
        orders = shorter_first(sequence(seconds, available), seconds, available, kinds)
        return {
            jobs[order[0]]: kind
            for kind, free, order in zip(kinds, available, orders, strict=True)
            if order and not free
        }

    def _machines(self, state: State) -> list[tuple[str, float]]:
        """Return, for each available GPU, its kind and the seconds until it is free."""
        busy: dict[str, list[float]] = {kind: [] for kind in self._inventory.kinds}
        for job, kind in self._kinds.items():
            left = state.remaining(job) / self._inventory.rate(state, job, kind)
            busy[kind].append(float(state.ready(job) - state.now + left))
        return [
            (kind, free)
            for kind, count in self._inventory.counts.items()
            for free in [*[0.0] * (count - len(busy[kind])), *busy[kind]]
        ]

    def _seconds(self, state: State, jobs: Sequence[int], kinds: Sequence[str]) -> Any:
        """Return the seconds that jobs take on GPUs of some kinds, or infinity where they cannot run."""
        seconds = np.full((len(jobs), len(kinds)), np.inf)
        for row, job in enumerate(jobs):
            for kind in self._inventory.kinds_of(job):
                here = [place for place, each in enumerate(kinds) if each == kind]
                seconds[row, here] = float(state.remaining(job) / self._inventory.rate(state, job, kind))
        return seconds

    def _user(self, state: State, job: int) -> Any:
        return self._users.get(state.jobs[job].name, job)

    def _entering(self, state: State, free: int) -> list[int]:
        """Return the jobs to order, those of the users with the least service, sorted by arrival."""
        service = dict(self._service)
        for job in self._kinds:
            user = self._user(state, job)
            service[user] = service.get(user, 0) + state.service(job)
        by_user: dict[Any, list[int]] = {}
        for job in sorted(self._waiting):
            by_user.setdefault(self._user(state, job), []).append(job)
        least = sorted(by_user.values(), key=lambda jobs: (service.get(self._user(state, jobs[0]), 0), jobs[0]))
        entering: list[int] = []
        for place, jobs in enumerate(least):
            if place < int(self._alpha * len(least)) or len(entering) < free:
                entering += jobs
        return sorted(entering)


def require_one_gpu(state: State, job: int) -> None:
    """Raise `Unsupported` if a job demands several GPUs."""
    item = state.jobs[job]
    if item.gpus > 1:
        raise Unsupported(f"job {item.name!r} demands {item.gpus} GPUs, but AlloX orders only jobs of one GPU")
