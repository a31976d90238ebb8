"""Beliefs: policies that know only roughly how much jobs slow each other down."""

from collections.abc import Sequence
from typing import Any

from gsopt.scenario.speed import Speed
from gsopt.simulation.perception import PerceivedState, PerceivingDecider
from gsopt.simulation.policy import Allocation, Decider, Policy, State


def believing(policy: Policy, speed: Speed) -> Policy:
    """Return a policy that bases its decisions on assumed slowdowns from GPU sharing instead of the true ones.

    The simulation uses the true slowdowns, which are those of the scenario, but the policy sees those in
    `speed`, such as predicted ones (`gsopt.performance.interference.predicted`). Of `speed`, only the slowdowns
    of pairs are used. Everything else that the policy sees is true, for example the remaining work and the
    speeds of modes and tiers.

    Source: Castor, section 9.5 (Figure 13), which compares decisions based on interference ratios from decision
    trees with those based on ratios from mathematical fitting.
    """

    def believed(state: State, **options: Any) -> Decider:
        return PerceivingDecider(_Believed(state, speed), policy, options)

    return believed


class _Believed(PerceivedState):
    """A state that shows the assumed slowdowns from GPU sharing."""

    __slots__ = ("_speed",)

    def __init__(self, truth: State, speed: Speed) -> None:
        super().__init__(truth)
        self._speed = speed

    def rate(
        self, job: int, gpus: Allocation, mode: str = "", beside: Sequence[int] = (), *, tier: str | None = None
    ) -> Any:
        """Return the speed of a job, with the assumed slowdown if it shares GPUs."""
        alone = super().rate(job, gpus, mode, tier=tier)
        slowdowns = (self._speed.interference_of(self.jobs[job], self.jobs[other]) for other in beside)
        return alone / self._number(max(slowdowns, default=1.0))
