"""Granting: a decider that grants all GPUs anew, at instants or at every event, and places who has changed."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gsopt.simulation.parts.instants import Instants
from gsopt.simulation.parts.pool import Count, Holding, pool_of
from gsopt.simulation.policy import Action, Assign, State, Wake
from heuristics.policies.optimus.contender import Contender, Contenders
from heuristics.policies.optimus.freest import freest
from heuristics.policies.optimus.grants import Grants

#: Grants GPUs to contenders, who are in the order of their release.
Grant = Callable[[Sequence[Contender], Grants], None]


class Granting:
    """Let a rule grant all GPUs anew, and let who gets another number of them move there.

    Where GPUs are of one kind, jobs are placed as by `freest`; where they are of several, a job keeps its own
    as far as it may, and takes those of the least sufficient memory close together.

    Parameters
    ----------
    grant
        The rule.
    interval
        Seconds between decisions, at the multiples of it; None for one at every event.
    contenders
        What makes contenders of jobs; those with known times left when None.

    Raises
    ------
    InvalidInput
        The interval is no number of seconds.
    """

    preemptive = True

    def __init__(
        self, state: State, grant: Grant, *, interval: float | None, contenders: Contenders | None = None
    ) -> None:
        self._grant = grant
        self._instants = None if interval is None else Instants(interval)
        self._pool = pool_of(state)
        self._contenders = contenders or Contenders(state)
        self._there: dict[int, None] = {}
        self._held: dict[int, Holding] = {}

    def decide(self, state: State) -> Iterable[Action]:
        """Grant the GPUs if it is time, and ask for the next time.

        Where nobody has a choice of GPUs nothing changes by time alone, so that nobody has to ask.
        """
        self._follow(state)
        is_time = self._instants is None or self._instants.reached(state.now)
        if is_time:
            yield from self._grant_anew(state)
        waits = any(len(state.jobs[job].counts) > 1 for job in self._there) if is_time else bool(self._there)
        if self._instants is not None and waits:
            yield Wake(self._instants.ask(state.now))

    def _follow(self, state: State) -> None:
        """Take in who has come and who has gone."""
        for job in state.completed:
            del self._there[job]
            self._held.pop(job, None)
            self._contenders.forget(job)
        for job in state.evicted:
            self._held.pop(job, None)
        self._there.update(dict.fromkeys(state.arrived))

    def _grant_anew(self, state: State) -> Iterable[Action]:
        self._pool.look(state)
        for holding in self._held.values():
            self._pool.give_back(holding)
        grants = Grants(self._pool, self._held)
        self._grant(self._contenders.of(state, self._there), grants)
        before, self._held = self._held, grants.holdings
        if before == self._held:
            return ()
        if isinstance(self._pool, Count):
            return (Assign(self._held if state.cluster.is_plain else freest(state, self._held)),)
        return self._pool.actions(state, *_by_job(before, self._held))


def _by_job(before: dict[int, Holding], after: dict[int, Holding]) -> tuple[dict[int, Any], dict[int, Any]]:
    """Return what every job held and what it is to hold, None where that is nothing."""
    jobs = {**before, **after}
    return {job: before.get(job) for job in jobs}, {job: after.get(job) for job in jobs}
