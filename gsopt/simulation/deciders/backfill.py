"""Backfill: waiting jobs start in the order of a key, whichever fits."""

from collections.abc import Callable, Iterable
from typing import Any

from gsopt.simulation.deciders.types import refuse_types
from gsopt.simulation.deciders.waiting import Waiting
from gsopt.simulation.policy import Action, Start, State


class Backfill:
    """Start waiting jobs in the order of their keys; a job that does not fit is skipped. No job is stopped.

    Parameters
    ----------
    state
        The state at the beginning of the run.
    key
        Key of a job when it begins to wait.
    """

    preemptive = False

    def __init__(self, state: State, key: Callable[[int], Any]) -> None:
        self._key = key
        self._waiting = Waiting(state.jobs)

    def decide(self, state: State) -> Iterable[Action]:
        """Start jobs while one fits."""
        refuse_types(state)
        for job in state.arrived + state.evicted:
            self._waiting.add(job, self._key(job))
        while (first := self._waiting.pop_fitting(state.free)) is not None:
            yield Start(first)
