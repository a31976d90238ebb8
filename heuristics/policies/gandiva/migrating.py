"""Migrating: a decider whose jobs accept every offer, and move when GPUs closer together become free."""

from collections.abc import Generator, Iterable
from typing import Any

from gsopt.simulation.parts.offers import Key, Offers
from gsopt.simulation.parts.patience import Timers, never_waits
from gsopt.simulation.policy import Action, Start, State, Stop


class Migrating(Offers):
    """A decider that starts jobs on any free GPUs, and moves running jobs to GPUs that are closer together.

    After the waiting jobs have been served, every running job that is not on its best tier is considered, in
    the order in which the jobs started. It moves if the placer finds GPUs of a better tier among the free GPUs
    and the job's own. This is repeated until no job moves. A move does not renew a lease.
    """

    def __init__(
        self, state: State, key: Key | None = None, *, lease: float | None = None, **options: Any
    ) -> None:
        super().__init__(state, Timers(state, never_waits), key, lease=lease, **options)
        self._capacity = 0  # of the last decision
        self._apart: dict[int, None] = {}  # running jobs that are not on their best tier, by start

    def decide(self, state: State) -> Iterable[Action]:
        """Serve the waiting jobs, then move running ones."""
        freed = bool(state.completed or state.evicted) or state.capacity > self._capacity
        self._capacity = state.capacity
        for job in (*state.completed, *state.evicted):
            self._apart.pop(job, None)
        for action in super().decide(state):
            yield action
            self._look(state, action)
            freed = freed or isinstance(action, Stop)
        while freed and self._apart:
            freed = yield from self._move_once(state)

    def _look(self, state: State, action: Action) -> None:
        """Update which running jobs have GPUs further apart than necessary, after a start or stop."""
        if isinstance(action, Start | Stop):
            self._apart.pop(action.job, None)
            if isinstance(action, Start) and not self._is_content(state, action.job):
                self._apart[action.job] = None

    def _move_once(self, state: State) -> Generator[Action, None, bool]:
        """Move every running job that can get GPUs closer together, and return whether any job moved.

        A move may free GPUs that are closer together for other jobs.
        """
        moved = False
        for job in tuple(self._apart):
            gpus = state.placement(job)
            yield Stop(job)
            offer = state.offer(job, self._placer)
            if offer is not None and self._tiers.of(offer) < self._tiers.of(gpus):
                gpus, moved = offer, True
            yield Start(job, gpus)
            if self._is_content(state, job):
                del self._apart[job]
        return moved
