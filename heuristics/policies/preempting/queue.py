"""Queue: a decider that starts jobs by priority, with a rule that chooses the running jobs to stop for them."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from gsopt.simulation import Action, Start, State, Stop, Wake
from heuristics.policies.preempting.floor import Floor, Standing

#: Time in seconds after which stopped jobs may start again.
_REQUEUED = 1


class Victim(NamedTuple):
    """A running job that may be stopped, with its priority and the time of its last start."""

    job: int
    priority: int
    started: Any


class Room(NamedTuple):
    """The jobs to stop for a waiting job, and where the waiting job is then placed."""

    stops: Iterable[int]
    standing: Standing


#: Chooses which of the victims stop for a waiting job, or returns None if it finds no solution. Stopping all of
#: them always makes enough room.
Rule = Callable[[State, Floor, int, list[Victim]], Room | None]


class Queue:
    """A decider that starts waiting jobs by priority, and stops running jobs for them as a rule decides."""

    preemptive = True

    def __init__(self, floor: Floor, rule: Rule) -> None:
        self._floor, self._rule = floor, rule
        self._waiting: set[int] = set()
        self._started: dict[int, Any] = {}

    def decide(self, state: State) -> Iterator[Action]:
        """Start, in order of priority, each waiting job that fits or for which the rule stops other jobs."""
        self._waiting.update(state.arrived, state.evicted)
        floor, stopped = self._floor, False
        floor.look(state)
        old = set(state.running)
        for job in sorted(self._waiting, key=lambda job: (-state.jobs[job].priority, job)):
            standing = floor.fit(state.jobs[job])
            if standing is None:
                found = self._room(state, job, old)
                if found is None:
                    continue
                for victim in found.stops:
                    floor.leave(victim, state.placement(victim))
                    yield Stop(victim)
                    self._waiting.add(victim)
                    old.remove(victim)
                stopped, standing = True, found.standing
            yield Start(job, floor.enter(standing))
            self._waiting.remove(job)
            self._started[job] = state.now
        if stopped:
            yield Wake(state.now + _REQUEUED)

    def _room(self, state: State, job: int, old: set[int]) -> Room | None:
        """Return which jobs of lower priority stop for a job; those that started just now may not."""
        item, machines = state.jobs[job], set(self._floor.eligible(state.jobs[job]))
        victims = [
            Victim(other, state.jobs[other].priority, self._started[other])
            for other in sorted(old)
            if state.jobs[other].priority < item.priority and not machines.isdisjoint(self._floor.on[other])
        ]
        if not victims or self._floor.fit(item, [victim.job for victim in victims]) is None:
            return None
        return self._rule(state, self._floor, job, victims)
