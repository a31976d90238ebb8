"""Windowing: a decider that plans the next rounds, and replans regularly and when jobs or GPUs change."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Protocol

from gsopt.core.errors import InvalidInput
from gsopt.simulation.parts.instants import Instants
from gsopt.simulation.parts.inventory import Inventory
from gsopt.simulation.policy import Action, State, Wake


class Planner(Protocol):
    """An interface for planners of the next rounds."""

    def enter(self, state: State, job: int) -> None:
        """Record a new job."""

    def leave(self, job: int) -> None:
        """Forget a completed job."""

    def plan(self, state: State, inventory: Inventory, jobs: Sequence[int]) -> Sequence[Collection[int]]:
        """Return, for each of the next rounds, the jobs that run in it; there must be at least one round."""


class Windowing:
    """A decider that runs, in each round, the jobs planned for it, on all the GPUs that they demand.

    Rounds begin at multiples of their length. Events in between take effect at the next round, and GPUs that
    become free stay idle until then. A new plan is made when jobs have arrived or completed or GPUs have
    changed, every `renewal` rounds, and at the end of a plan.

    Raises
    ------
    InvalidInput
        The interval is not a valid number of seconds, or GPUs are of several kinds.
    """

    preemptive = True

    def __init__(self, state: State, planner: Planner, *, interval: float, renewal: int) -> None:
        self._planner, self._interval, self._renewal = planner, interval, renewal
        self._inventory = Inventory(state)
        if len(self._inventory.kinds) > 1:
            rule = "must be alike: this policy plans GPUs of one kind"
            raise InvalidInput("cluster", "GPUs of several kinds", rule)
        (self._kind,) = self._inventory.kinds
        self._instants = Instants(interval)
        self._there: dict[int, None] = {}
        self._changed = True  # whether jobs or GPUs have come or gone since the plan
        self._plan: Sequence[Collection[int]] = ()
        self._rounds = self._planned = -1  # the number of the present round, and of the first one of the plan
        self._begun: Any = None

    def decide(self, state: State) -> Iterable[Action]:
        """Begin a round if one is due."""
        for job in state.arrived:
            self._inventory.enter(state, job)
            self._planner.enter(state, job)
            self._there[job] = None
        for job in state.completed:
            self._inventory.leave(job)
            self._planner.leave(job)
            del self._there[job]
        self._changed = self._changed or bool(state.arrived or state.completed)
        if not self._there:
            self._instants = Instants(self._interval)  # nobody waits for one
            return
        before = self._inventory.counts
        self._inventory.look(state)
        self._changed = self._changed or self._inventory.counts != before
        if self._instants.reached(state.now):
            if state.now != self._begun:
                self._rounds, self._begun = self._rounds + 1, state.now
            chosen = dict.fromkeys(self._chosen(state), self._kind)
            yield self._inventory.assign(state, chosen)
        yield Wake(self._instants.ask(state.now))

    def _chosen(self, state: State) -> Collection[int]:
        """Return the jobs of the current round, after replanning if that is due."""
        age = self._rounds - self._planned
        is_due = self._rounds % self._renewal == 0 and age > 0
        if self._changed or is_due or age >= len(self._plan):
            jobs = [job for job in self._there if self._inventory.kinds_with_room(state, job)]
            self._plan = self._planner.plan(state, self._inventory, jobs)
            self._changed, self._planned, age = False, self._rounds, 0
        return self._plan[age]
