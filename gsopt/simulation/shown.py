"""Shown: a policy that decides by another state than the true one."""

from collections.abc import Iterable, Mapping
from typing import Any

from gsopt.simulation.policy import Action, Decider, Policy, State


class Shown:
    """A decider that is shown a state of its own, which follows the run."""

    def __init__(self, state: State, policy: Policy, options: Mapping[str, Any]) -> None:
        self._state = state
        self._decider: Decider = policy(state, **options)
        self.preemptive = self._decider.preemptive

    def decide(self, state: State) -> Iterable[Action]:
        """Decide by what is shown."""
        del state
        return self._decider.decide(self._state)
