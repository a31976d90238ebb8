"""Patience: how long jobs wait for GPUs that are closer together than the offered ones."""

from collections.abc import Callable
from math import inf
from typing import Any, Protocol

from gsopt.simulation.parts.tiers import Tiers
from gsopt.simulation.policy import State

#: Function that returns how long a job waits for a tier before it accepts the next one: (tier, GPUs) ->
#: seconds.
Timer = Callable[[int, int], float]


class Patience(Protocol):
    """Interface for the patience of jobs: how long they wait before they accept an offer."""

    def seconds(self, state: State, job: int, tier: int, gpus: tuple[int, ...], /) -> Any:
        """Return how many seconds a job waits before it accepts GPUs at a tier; infinity if it never does."""

    def accept(self, state: State, job: int, tier: int, waited: Any, /) -> None:
        """Record that a job has accepted an offer at a tier after waiting for `waited` seconds."""


class Timers:
    """Delay scheduling: each network tier but the outermost has a timer that limits how long jobs wait for it.

    A job accepts GPUs on a tier once the timers of all narrower tiers have run out, except those of tiers that
    it could not get even in the empty cluster. The timers run simultaneously, so the longest one decides.

    Source: Dally, Algorithm 1.

    Parameters
    ----------
    state
        The state at the start of the run.
    timer
        Function that returns the timer, in seconds, for a tier and a number of GPUs. Tiers are numbered from 0,
        the innermost one, outwards. The timers may change during a run.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Job, Workload
    >>> from gsopt.simulation import simulate
    >>> from gsopt.simulation.parts.offers import Offers
    >>> def patient(state):
    ...     return Offers(state, Timers(state, lambda tier, gpus: 10.0))
    >>> sizes = [("a", 30, 2), ("b", 40, 2), ("c", 1, 3)]
    >>> jobs = Workload(jobs=[Job(name=n, release_date=0, duration=d, gpus=g) for n, d, g in sizes])
    >>> simulate(jobs, patient, cluster=Cluster.uniform(racks=2, machines=1, gpus=3)).start_times
    (0.0, 0.0, 30.0)
    """

    def __init__(self, state: State, timer: Timer) -> None:
        self._tiers = Tiers(state)
        self._timer = timer

    def seconds(self, state: State, job: int, tier: int, _gpus: tuple[int, ...], /) -> Any:
        """Return the longest timer, in seconds, of the tiers narrower than `tier` that the job could ever get.

        The result is 0 if there are no such tiers.
        """
        item = state.jobs[job]
        best = self._tiers.best(item)
        return max((self._timer(better, item.gpus) for better in range(best, tier)), default=0.0)

    def accept(self, _state: State, _job: int, _tier: int, _waited: Any, /) -> None:
        """Do nothing, because these timers do not depend on past offers."""


def never_waits(_tier: int, _gpus: int) -> float:
    """Return a timer of 0 seconds, which has always run out."""
    return 0.0


def always_waits(_tier: int, _gpus: int) -> float:
    """Return an infinite timer, which never runs out."""
    return inf
