"""Guard: limits on decisions that make no progress, which ensure that every run ends.

Apart from an optional time limit, the guard does not measure wall-clock time but counts steps: the actions in
one decision, the consecutive wakes that hardly advance the clock, and the consecutive decisions after which
jobs wait, no job runs and no event is due.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Any

from gsopt.core.budget import Budget
from gsopt.core.errors import TimeUp
from gsopt.core.numbers.clock import clock_error
from gsopt.simulation.interval import SHORTEST_ROUND
from gsopt.simulation.policy import Action, Assign, IllegalDecision, Wake

#: Number of actions allowed in one decision, regardless of the number of jobs. An `Assign` counts once per
#: job.
_ACTIONS = 10_000
#: Number of further actions allowed per job and machine: more than a policy needs to try placements of a job
#: and undo them.
_ACTIONS_EACH = 100

#: Number of consecutive wakes allowed that come less than `SHORTEST_ROUND` after the previous decision while
#: nothing else happens. A policy with a fixed time step uses at least that length; one that computes its
#: wakes needs only a few such wakes per job.
_SHORT_WAKES = 10_000
#: Number of further such wakes allowed per active job.
_SHORT_WAKES_EACH = 100

#: Number of consecutive wakes allowed after which no job runs although no event is due. It exceeds the number
#: of seconds in a day, for policies that start jobs only at a certain hour.
_IDLE_WAKES = 100_000


class Guard:
    """A counter of the steps in a run that make no progress, which also checks the time limit."""

    def __init__(self, machines: int, budget: Budget | None = None) -> None:
        self._machines = machines
        self._budget = None if budget is None or budget.time_limit is None else budget
        self._decided: Any = -inf  # when the last decision was taken
        self._short = self._idle = 0

    def check_time(self, completions: Sequence[Any]) -> None:
        """Raise `TimeUp` if the time limit is reached; `completions` has None for each incomplete job."""
        if self._budget is not None and self._budget.passed:
            done = sum(time is not None for time in completions)
            limit, jobs = self._budget.time_limit, len(completions)
            raise TimeUp(f"the time limit of {limit:g} s expired when {done:,} of {jobs:,} jobs were complete")

    def finite(self, decision: Iterable[Action], jobs: int) -> Iterator[Action]:
        """Yield the actions of a decision that is made when `jobs` jobs are active.

        Raise `IllegalDecision` if there are too many actions.
        """
        things = jobs + self._machines
        most = _ACTIONS + _ACTIONS_EACH * things
        left = most
        for action in decision:
            left -= _weight(action)
            if left < 0:
                rule = f"a decision about {things:,} jobs and machines must have at most {most:,} actions"
                raise IllegalDecision(action, rule)
            yield action

    def count(self, now: Any, jobs: int, *, is_wake: bool) -> None:
        """Count a decision if a wake caused it less than `SHORTEST_ROUND` after the previous decision.

        Any other decision resets the count. Raise `IllegalDecision` if the count is too high.
        """
        is_short = is_wake and now - self._decided < max(SHORTEST_ROUND, clock_error(now, 0))
        self._short, self._decided = self._short + 1 if is_short else 0, now
        if self._short > _SHORT_WAKES + _SHORT_WAKES_EACH * jobs:
            rule = (
                f"wakes must be at least {SHORTEST_ROUND:g} s apart while nothing else happens "
                f"(the last {self._short:,} did not)"
            )
            raise IllegalDecision(Wake(now), rule)

    def count_idle(self, now: Any, jobs: int, *, is_idle: bool) -> None:
        """Count a decision after which jobs wait, no job runs and no event is due (`is_idle`).

        Any other decision resets the count. Raise `IllegalDecision` if the count is too high.
        """
        self._idle = self._idle + 1 if is_idle else 0
        if self._idle > _IDLE_WAKES:
            rule = (
                f"a policy must start a job when no job runs and nothing else will happen "
                f"({jobs:,} jobs have waited for {_IDLE_WAKES:,} wakes)"
            )
            raise IllegalDecision(Wake(now), rule)


def _weight(action: Any) -> int:
    """Return the number of jobs that an action names, but at least 1."""
    return max(len(action.jobs), 1) if isinstance(action, Assign) else 1
