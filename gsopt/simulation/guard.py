"""Guard: refuses decisions that make no progress, so that every run ends.

The guard counts work instead of wall time: actions of one decision, wakes that hardly advance the clock, and
wakes after which nothing ever starts. An arrival, a completion or a change of the cluster resets the count,
which happens only finitely often.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Any

from gsopt.core.budget import Budget
from gsopt.core.errors import TimeUp
from gsopt.core.numbers.clock import clock_error
from gsopt.simulation.interval import SHORTEST_ROUND
from gsopt.simulation.policy import Action, Assign, IllegalDecision, Wake

#: Actions of one decision, beside those for each job and machine; an `Assign` counts for each of its jobs.
_ACTIONS = 10_000
#: And for each job and machine: more than any policy needs that tries places for a job and takes them back.
_ACTIONS_EACH = 100

#: Wakes in a row, each sooner than `SHORTEST_ROUND` after the decision before, while nothing happens. A policy
#: with a step of time has at least that one; one that computes when to wake does so a few times for each job.
_SHORT_WAKES = 10_000
#: And for each job that is there.
_SHORT_WAKES_EACH = 100

#: Wakes in a row after which nothing runs though nothing else will ever happen: more than a day of seconds, for
#: those that wait for an hour at which they start jobs.
_IDLE_WAKES = 100_000


class Guard:
    """Counts the steps of a run that make no progress, and checks the time limit."""

    def __init__(self, machines: int, budget: Budget | None = None) -> None:
        self._machines = machines
        self._budget = None if budget is None or budget.time_limit is None else budget
        self._decided: Any = -inf  # when the last decision was taken
        self._short = self._idle = 0

    def check_time(self, completions: Sequence[Any]) -> None:
        """Raise `TimeUp` if the time limit has passed. `completions` shows which jobs are complete."""
        if self._budget is not None and self._budget.passed:
            done = sum(time is not None for time in completions)
            limit, jobs = self._budget.time_limit, len(completions)
            raise TimeUp(f"the time limit of {limit:g} s expired when {done:,} of {jobs:,} jobs were complete")

    def finite(self, decision: Iterable[Action], jobs: int) -> Iterator[Action]:
        """Yield the actions of a decision about a number of jobs.

        Raise `IllegalDecision` if they never end.
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
        """Count a decision, which was caused by a wake of the policy or by an event."""
        is_short = is_wake and now - self._decided < max(SHORTEST_ROUND, clock_error(now, 0))
        self._short, self._decided = self._short + 1 if is_short else 0, now
        if self._short > _SHORT_WAKES + _SHORT_WAKES_EACH * jobs:
            rule = (
                f"wakes must be at least {SHORTEST_ROUND:g} s apart while nothing else happens "
                f"(the last {self._short:,} did not)"
            )
            raise IllegalDecision(Wake(now), rule)

    def count_idle(self, now: Any, jobs: int, *, is_idle: bool) -> None:
        """Count a decision after which jobs wait, nothing runs and no event will ever happen.

        Other decisions reset the count.
        """
        self._idle = self._idle + 1 if is_idle else 0
        if self._idle > _IDLE_WAKES:
            rule = (
                f"a policy must start a job when no job runs and nothing else will happen "
                f"({jobs:,} jobs have waited for {_IDLE_WAKES:,} wakes)"
            )
            raise IllegalDecision(Wake(now), rule)


def _weight(action: Any) -> int:
    """Count the jobs that an action names."""
    return max(len(action.jobs), 1) if isinstance(action, Assign) else 1
