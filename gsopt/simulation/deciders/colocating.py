"""Colocating: waiting jobs start on free GPUs, and where these are too few beside running jobs."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from gsopt.job import Job
from gsopt.simulation.deciders.accumulation import fits, memory_left, sub_batches
from gsopt.simulation.deciders.partners import Judge, Partner, Partners
from gsopt.simulation.deciders.tiers import need_of
from gsopt.simulation.deciders.turns import Turn, Turns
from gsopt.simulation.placer import Placer
from gsopt.simulation.policy import Action, Start, State


class Colocating:
    """Start waiting jobs in the order of their keys, on free GPUs or beside running jobs. No job is stopped.

    A job takes free GPUs if there are as many as it demands. Else it takes GPUs that one job has to itself, of
    the partners that a judge finds for it, the best first, and then free ones, near those and where most are
    free, until it has as many as it demands. Beside several partners it starts in the smallest of the
    sub-batches that were found for them, or in a smaller one if that needs too much memory somewhere. If all
    that is not enough it waits for the next event.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    key
        Key of a job when it begins to wait; ties go to the lower number.
    judge
        Finds partners.
    skip
        Whether a job that cannot start is skipped; else it blocks all jobs behind it.
    free_first
        Whether a job that shares takes all free GPUs that suit it first, and shared ones after them.
    share_first
        Whether a job seeks partners even though enough GPUs are free.
    placer
        Where a job goes for which enough GPUs are free; that of the run if None.

    Examples
    --------
    >>> from gsopt.cluster import Cluster
    >>> from gsopt.job import Workload
    >>> from gsopt.simulation import simulate
    >>> from gsopt.simulation.deciders.partners import Match
    >>> def anyhow(state):
    ...     return Colocating(state, key=lambda job: job, judge=lambda *pair: Match(rank=0))
    >>> jobs = [Job(name=name, release_date=0, duration=2, gpus=2) for name in "abc"]
    >>> machine = Cluster.uniform(machines=1, gpus=2)
    >>> simulate(Workload(jobs=jobs), anyhow, cluster=machine, share_limit=2).completion_times
    (2.0, 2.0, 4.0)
    """

    preemptive = False

    def __init__(
        self,
        state: State,
        key: Callable[[int], Any],
        judge: Judge,
        *,
        skip: bool = True,
        free_first: bool = False,
        share_first: bool = False,
        placer: Placer | None = None,
    ) -> None:
        self._jobs, self._key, self._placer = state.jobs, key, placer
        self._skip, self._free_first, self._share_first = skip, free_first, share_first
        self._partners = Partners(judge)
        self._turns = Turns()

    def decide(self, state: State) -> Iterable[Action]:
        """Start jobs in turn."""
        for job in (*state.evicted, *state.arrived):
            self._turns.add(Turn(self._key(job), 0, job), need_of(self._jobs[job]))
        if not self._turns:
            return
        partners = self._partners
        partners.update(state)

        def is_open(need: Any) -> bool:
            return not self._skip or need.gpus <= state.free + partners.room

        for turn, need in self._turns.walk(is_open):
            start = self._start(state, turn.job)
            if start is not None:
                self._turns.remove(turn, need)
                yield start
                partners.refresh(state, turn.job)
            elif not self._skip:
                return

    def _start(self, state: State, job: int) -> Start | None:
        """Give how a job starts now; None when it waits."""
        ways = [self._on_free, self._beside]
        for way in reversed(ways) if self._share_first else ways:
            if (start := way(state, job)) is not None:
                return start
        return None

    def _on_free(self, state: State, job: int) -> Start | None:
        gpus = state.offer(job, self._placer)
        return None if gpus is None else Start(job, gpus or None)

    def _beside(self, state: State, job: int) -> Start | None:
        """Give how a job starts beside others."""
        found = self._partners.of(state, job) if self._partners.room else []
        if not found:
            return None
        item = self._jobs[job]
        free = _usable(state, item)
        shared, modes = _taken(found, max(item.gpus - len(free), 0) if self._free_first else item.gpus)
        gpus = shared + _nearest(state, free, shared, item.gpus - len(shared))
        if not shared or len(gpus) < item.gpus:
            return None
        return _in_sub_batches(state, job, tuple(sorted(gpus)), modes)


def _taken(found: Iterable[Partner], count: int) -> tuple[tuple[int, ...], set[str]]:
    """Take so many GPUs of partners, or all if there are fewer; give them and the modes found for these."""
    shared: list[int] = []
    modes: set[str] = set()
    for partner in found:
        if len(shared) == count:
            break
        shared += partner.gpus[: count - len(shared)]
        modes.add(partner.mode)
    return tuple(shared), modes


def _usable(state: State, job: Job) -> tuple[int, ...]:
    """Give the free GPUs on which a job may run in some sub-batches."""
    free = state.free_gpus(job.gpu_type)
    least = min(job.memory_in(name) or 0 for name in sub_batches(job))
    if not least:
        return free
    return tuple(gpu for gpu in free if (left := state.memory(gpu)) is None or least <= left)


def _nearest(state: State, free: tuple[int, ...], shared: Iterable[int], count: int) -> tuple[int, ...]:
    """Choose free GPUs: on the machines of those that are shared, then where most are free."""
    if count <= 0:
        return ()
    machine_of = state.cluster.machine_of
    own = {machine_of[gpu] for gpu in shared}
    room = Counter(machine_of[gpu] for gpu in free)

    def rank(gpu: int) -> tuple[bool, int, int]:
        machine = machine_of[gpu]
        return machine not in own, -room[machine], gpu

    return tuple(sorted(free, key=rank)[:count])


def _in_sub_batches(state: State, job: int, gpus: tuple[int, ...], modes: set[str]) -> Start | None:
    """Start a job in the smallest of some sub-batches, or in a smaller one if they do not fit the GPUs."""
    names = sub_batches(state.jobs[job])
    left = memory_left(state, gpus)
    for name in names[max(map(names.index, modes)) :]:
        if fits(state.jobs[job], name, left):
            return Start(job, gpus, name)
    return None
