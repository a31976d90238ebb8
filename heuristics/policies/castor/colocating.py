"""Colocating: a decider that starts jobs on free GPUs, or beside running jobs if too few are free."""

from collections.abc import Callable, Iterable
from typing import Any

from gsopt.simulation.parts.partners import Judge, Partners
from gsopt.simulation.parts.starts import beside, on_free
from gsopt.simulation.parts.tiers import need_of
from gsopt.simulation.parts.turns import Turn, Turns
from gsopt.simulation.placer import Placer
from gsopt.simulation.policy import Action, Start, State
from heuristics.policies.castor.patient import Patience


class Colocating:
    """A decider that starts waiting jobs on free GPUs or beside running jobs, and never stops jobs.

    Jobs are considered in ascending order of key.

    A job takes free GPUs if there are enough. Otherwise, it needs partners: running jobs that `judge` accepts
    and that hold some GPUs alone. It takes such GPUs, of the best partner first. If these are too few, it adds
    free GPUs, first on the machines of its partners and then where most GPUs are free. With several partners,
    the job starts with the smallest of the sub-batches found for them, or with an even smaller one if that
    needs too much memory on some GPU. If even the smallest does not fit, or there are still too few GPUs, the
    job waits for the next event.

    Ties of keys go to the lower job number. A job that cannot start blocks all jobs behind it unless `skip` is
    set. With `free_first`, a job that shares takes all suitable free GPUs before shared ones. With
    `share_first`, it looks for partners even if enough GPUs are free. `placer` chooses the GPUs of a job if
    enough are free. `patience` decides whether a job that could share waits instead; if it is None, such a job
    never waits.
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
        patience: Patience | None = None,
    ) -> None:
        self._jobs, self._key, self._placer = state.jobs, key, placer
        self._patience = patience
        self._skip, self._free_first, self._share_first = skip, free_first, share_first
        self._partners = Partners(judge)
        self._turns = Turns()

    def decide(self, state: State) -> Iterable[Action]:
        """Start waiting jobs in ascending order of key, where they fit."""
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
        """Return the start of a job now, or None if the job waits."""
        if self._share_first:
            return self._beside(state, job) or on_free(state, job, self._placer)
        return on_free(state, job, self._placer) or self._beside(state, job)

    def _beside(self, state: State, job: int) -> Start | None:
        found = self._partners.of(state, job) if self._partners.room else []
        start = beside(state, job, found, free_first=self._free_first)
        if start is None or self._patience is None or self._patience(state, start):
            return start
        return None
