"""Perception: policies that see a state other than the true one."""

from collections.abc import Iterable, Mapping
from typing import Any

from gsopt.simulation.policy import Action, Decider, Policy, State
from gsopt.simulation.view import RunView


class PerceivedState(RunView):
    """A state that equals the true state, except where a subclass overrides it."""

    __slots__ = ("_number",)

    def __init__(self, truth: State) -> None:
        if not isinstance(truth, RunView):
            raise TypeError(truth)
        super().__init__(truth._run)  # noqa: SLF001 - of its own class
        self._number = type(truth.now)


class PerceivingDecider:
    """The decider of a policy that sees a perceived state instead of the true state of the run."""

    def __init__(self, state: PerceivedState, policy: Policy, options: Mapping[str, Any]) -> None:
        self._state = state
        self._decider: Decider = policy(state, **options)
        self.preemptive = self._decider.preemptive

    def decide(self, state: State) -> Iterable[Action]:
        """Return the decision that is based on the perceived state."""
        del state
        return self._decider.decide(self._state)
