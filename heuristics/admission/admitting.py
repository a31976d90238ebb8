"""Admitting: place the pending gangs one after the other, with a rule that says who stops for each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf

from gsopt.core.budget import Budget
from gsopt.core.errors import TimeUp
from gsopt.core.method import NoSolution
from gsopt.problems.admission import Admission, AdmissionSolution, Gang, Places, Running
from heuristics.admission.room import Room, Seats


@dataclass(frozen=True)
class Stops:
    """What a rule found for one pending gang: its places, and where the gangs that it moved go.

    The gangs that the rule stopped, and did not move, are evicted.
    """

    places: Places
    moved: dict[str, Places] = field(default_factory=dict)


#: Stops running gangs in the room, so that a gang fits, and returns places; None if it finds no way. Candidates
#: are the gangs that it may evict.
Rule = Callable[[Room, Seats, Sequence[Running], Budget], Stops | None]


def admit(problem: Admission, rule: Rule, budget: Budget) -> AdmissionSolution | NoSolution:
    """Place the pending gangs by priority, then in the order of the problem, and stop others for them.

    A gang that fits is placed without asking the rule, in the group with the least room to spare. A gang that
    stopped for an earlier pending gang stays as it is.
    """
    if problem.obstacle:
        return NoSolution(problem.obstacle, proven=True)
    room = Room(problem)
    moved: dict[str, Places] = {}
    placed: dict[str, Places] = {}
    for gang in sorted(problem.pending, key=lambda gang: -gang.priority):
        check_time(budget)
        seats = Seats(room, gang)
        places = seats.place()
        found = None if places is None else Stops(places)
        if found is None:
            room.watch(seats)
            found = rule(room, seats, candidates(room, gang), budget)
            room.forget(seats)
        if found is None:
            return NoSolution(f"the rule finds no way to admit {gang.name!r}")
        moved |= found.moved
        placed[gang.name] = found.places
        room.settle(gang, found.places)
        for name, new in found.moved.items():
            room.settle(room.stopped[name], new)
    evicted = tuple(name for name in room.stopped if name not in moved)
    return AdmissionSolution(evicted=evicted, moved=moved, placed=placed)


def candidates(room: Room, gang: Gang) -> list[Running]:
    """Return the gangs of lower priority that run and may be evicted for a pending one."""
    return [
        each
        for each in room.problem.running
        if room.problem.evictable(each) and each.name not in room.stopped and each.priority < gang.priority
    ]


def same_queue(gangs: Sequence[Running], gang: Gang) -> list[Running]:
    """Return the gangs of the queue of a pending one."""
    return [each for each in gangs if each.queue == gang.queue]


def least_important_first(gang: Running) -> tuple[int, float]:
    """Sort gangs by ascending priority, the latest first; ties keep the order of the problem."""
    return gang.priority, -started(gang)


def started(gang: Running) -> float:
    """Return when a gang started; if that is unknown, infinity: it counts as the latest."""
    return inf if gang.started is None else gang.started


def place(seats: Seats) -> Stops | None:
    """Return the places of a gang, if it fits."""
    places = seats.place()
    return None if places is None else Stops(places)


def check_time(budget: Budget) -> None:
    """Raise `TimeUp` when the time limit is over."""
    if budget.passed:
        raise TimeUp("the time limit is over before there is room for all pending gangs")
