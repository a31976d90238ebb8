"""Beliefs: policies that know only roughly how much jobs slow each other down."""

from collections.abc import Sequence
from typing import Any

from gsopt.scenario.speed import Speed
from gsopt.simulation.policy import Allocation, Decider, Policy, State
from gsopt.simulation.shown import Shown
from gsopt.simulation.view import RunView


def believing(policy: Policy, speed: Speed) -> Policy:
    """Return a policy that is told other slowdowns of shared GPUs than there are.

    What happens follows the slowdowns of the scenario; the policy decides by those that it believes, such as
    predicted ones (`gsopt.performance.interference.predicted`). All else that it is told is true: speeds of
    modes and tiers, and the work that is left.

    Source: Castor, section 9.4 (Figure 13), which holds decisions by predicted ratios against those by measured
    ones.
    """

    def believed(state: State, **options: Any) -> Decider:
        return Shown(_Believed(state, speed), policy, options)

    return believed


class _Believed(RunView):
    """A state in which slowdowns of shared GPUs are what is believed."""

    __slots__ = ("_number", "_speed")

    def __init__(self, truth: State, speed: Speed) -> None:
        if not isinstance(truth, RunView):
            raise TypeError(truth)
        super().__init__(truth._run)  # noqa: SLF001 - of its own class
        self._number, self._speed = type(truth.now), speed

    def rate(
        self,
        job: int,
        gpus: Allocation,
        mode: str = "",
        beside: Sequence[int] = (),
        *,
        tier: str | None = None,
    ) -> Any:
        """Return the speed that a job is believed to have beside others."""
        alone = super().rate(job, gpus, mode, tier=tier)
        slowdowns = (self._speed.interference_of(self.jobs[job], self.jobs[other]) for other in beside)
        return alone / self._number(max(slowdowns, default=1.0))
