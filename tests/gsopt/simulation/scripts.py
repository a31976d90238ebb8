"""Policies for tests: scripts, and functions that decide."""

from collections.abc import Callable, Iterable
from typing import Any

from gsopt.scenario.job import Job, Workload
from gsopt.simulation import Action, Policy, State
from tests.gsopt.simulation.scenarios import bundle


class Script:
    """A decider that follows a script: what to do at which decision."""

    def __init__(self, steps: list[list[Any]], *, preemptive: bool = True) -> None:
        self.preemptive = preemptive
        self._steps = iter(steps)

    def decide(self, state: State) -> Iterable[Action]:
        """Take the next step of the script."""
        del state
        return next(self._steps, [])


def scripted(*steps: list[Any], preemptive: bool = True) -> Policy:
    """Make a policy of a script."""
    return lambda _: Script(list(steps), preemptive=preemptive)


def doing(decide: Callable[[State], Iterable[Action]]) -> Policy:
    """Make a preemptive policy of what it decides."""

    class Doing:
        preemptive = True

        def decide(self, state: State) -> Iterable[Action]:
            return decide(state)

    return lambda _: Doing()


def workload(*jobs: tuple[float, float, int]) -> Workload:
    """Make a workload of (release date, duration, GPUs)."""
    return bundle([Job(name=f"j{i}", release_date=r, duration=d, gpus=g) for i, (r, d, g) in enumerate(jobs)])
