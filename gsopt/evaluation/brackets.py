"""Brackets: the earliest and latest start of each waiting job, given users' estimates."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from gsopt.core.budget import Budget, TimeLimit, checked_time_limit
from gsopt.core.errors import InvalidInput, shorten
from gsopt.core.method import name_of
from gsopt.evaluation.catalogue import find_policy
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import LATEST, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.simulation.bracket import Bracket
from gsopt.simulation.policy import Action, Policy, State
from gsopt.simulation.run import replay


def wait_brackets(
    given: Workload | Scenario,
    policy: Policy | str = "conservative_backfilling",
    *,
    at: float,
    cluster: Cluster | int | str | None = None,
    factor: float | None = None,
    time_limit: TimeLimit = None,
    **options: Any,
) -> dict[str, Bracket]:
    """Return the earliest and latest start of each job that is waiting at a given time, keyed by job name.

    The jobs are simulated until that time; jobs released later are ignored. A job is certain to start within
    its bracket if no running time exceeds its estimate or contradicts `factor`, the available GPUs do not
    change, there are no overheads, and decisions are made at every event.

    - The latest start under ``conservative_backfilling`` is the reserved time, because reservations only move
      to earlier times. Under ``easy_backfilling``, this holds for the first waiting job; for others, it is
      None, because jobs that arrive later may start before them.
    - The earliest start is the first time by which enough running jobs may have ended for the job to fit.
    - If all estimates are exact, both starts of a job with a reservation are its reserved time. The earliest
      start of any other job is the first time at which it fits beside all reservations.

    Parameters
    ----------
    given
        The jobs with their estimates, or a whole scenario.
    policy
        The policy, or its name. Its decider must have a method ``brackets``.
    at
        Time in seconds on the clock of the workload.
    cluster
        The cluster on which a workload runs, its number of GPUs, or equal racks such as ``4x8x8``.
    factor
        Largest ratio of a job's estimate to its running time; 1 if estimates are exact. If None, a running job
        may end at any time. For jobs without an estimate of their own, the policy's option ``overestimate``
        takes the place of `factor`.
    time_limit
        Time limit, in seconds or as text such as ``10s``; None for no limit.
    options
        Options of the policy.

    Raises
    ------
    InvalidInput
        `at` or `factor` is out of range, the policy cannot provide brackets, or the scenario breaks a rule.
    TimeUp
        The time limit was reached.

    Examples
    --------
    >>> from gsopt import Job
    >>> jobs = [Job(name=n, release_date=0, duration=d, gpus=g, estimate=e) for n, d, g, e in
    ...         [("a", 3, 3, 6), ("b", 2, 4, 2), ("c", 5, 2, 6)]]
    >>> wait_brackets(Workload(jobs=jobs), at=1, cluster=4)
    {'b': Bracket(earliest=1.0, latest=6.0), 'c': Bracket(earliest=1.0, latest=8.0)}
    >>> wait_brackets(Workload(jobs=jobs), at=1, cluster=4, factor=2)
    {'b': Bracket(earliest=3.0, latest=6.0), 'c': Bracket(earliest=3.0, latest=8.0)}
    """
    if not (isinstance(at, int | float) and 0 <= at <= LATEST):
        raise InvalidInput("at", shorten(at), "must be a time in seconds, from 0 to 1e12")
    if factor is not None and not (isinstance(factor, int | float) and factor >= 1):
        raise InvalidInput("factor", shorten(factor), "must be a number of at least 1, or None")
    budget = Budget(time_limit=checked_time_limit(time_limit))
    scenario = Scenario.of(given, cluster)
    clock, at = scenario.clock, float(at)
    watch = _Watch(find_policy(policy), clock.since(at), factor)
    for _ in range(2):  # only in the second run is it known which decision is the last
        with suppress(_Over):
            replay(scenario, watch.policy, budget=budget, **options)
    jobs = scenario.on_own_clock().workload.jobs
    return {
        jobs[job].name: Bracket(*clock.all_nearest([max(found.earliest, clock.since(at)), found.latest]))
        for job, found in watch.found.items()
    }


class _Over(Exception):
    """Signal that ends the simulation once it is past the requested time."""


class _Watch:
    """A wrapper of a policy that ends each run after a given time.

    The first run counts the decisions up to that time, and the second records the brackets at the last of them.
    """

    def __init__(self, policy: Policy, at: float, factor: float | None) -> None:
        self._policy, self._at, self._factor = policy, at, factor
        self._brackets: Any = None
        self._decide: Any = None
        self._decisions = self._last = 0
        self.preemptive = False
        self.found: Mapping[int, Bracket] = {}

    def policy(self, state: State, **options: Any) -> "_Watch":
        """Create the decider of the wrapped policy, and return this object in its place."""
        decider = self._policy(state, **options)
        self._decisions, self._last = 0, self._decisions
        self._decide, self.preemptive = decider.decide, decider.preemptive
        self._brackets = getattr(decider, "brackets", None)
        if self._brackets is None:
            rule = "must bracket waiting times, as conservative_backfilling does"
            raise InvalidInput("policy", name_of(self._policy), rule)
        return self

    def decide(self, state: State) -> Iterable[Action]:
        """Return the actions of the wrapped decider. At the last decision, record its brackets."""
        if state.now > self._at:
            raise _Over
        actions = list(self._decide(state))
        self._decisions += 1
        if self._decisions == self._last:
            self.found = self._brackets(state, self._factor)
        return actions
