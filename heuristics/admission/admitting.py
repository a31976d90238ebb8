"""Admitting: the placement of pending gangs one by one, where a rule chooses which running gangs stop."""

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
    """The answer of a rule for one pending gang: places for this gang, and for the gangs that the rule moves.

    Gangs that the rule stopped but did not move are evicted.
    """

    places: Places
    moved: dict[str, Places] = field(default_factory=dict)


#: A function that stops running gangs in the room so that a gang fits, and returns places, or None if it
#: finds none. Its third argument contains the gangs that it may evict.
Rule = Callable[[Room, Seats, Sequence[Running], Budget], Stops | None]


def admit(problem: Admission, rule: Rule, budget: Budget) -> AdmissionSolution | NoSolution:
    """Place the pending gangs in descending order of priority; a rule decides which gangs stop for them.

    Ties keep the order of the problem. A gang that fits is placed without the rule, in the group with the
    least room to spare. Running gangs that were evicted or moved for an earlier pending gang are not touched
    again.
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
    """Return the evictable gangs of lower priority that have not been evicted or moved for an earlier gang."""
    return [
        each
        for each in room.problem.running
        if room.problem.evictable(each) and each.name not in room.stopped and each.priority < gang.priority
    ]


def same_queue(gangs: Sequence[Running], gang: Gang) -> list[Running]:
    """Return the given gangs that are in the pending gang's queue."""
    return [each for each in gangs if each.queue == gang.queue]


def least_important_first(gang: Running) -> tuple[int, float]:
    """Return a sort key for ascending priority; among equals, the gang that started last comes first."""
    return gang.priority, -started(gang)


def started(gang: Running) -> float:
    """Return when a gang started, or infinity if this is unknown, so that the gang counts as the latest."""
    return inf if gang.started is None else gang.started


def place(seats: Seats) -> Stops | None:
    """Return places for a gang on the free resources, or None if it does not fit."""
    places = seats.place()
    return None if places is None else Stops(places)


def check_time(budget: Budget) -> None:
    """Raise `TimeUp` if the time limit is reached."""
    if budget.passed:
        raise TimeUp("the time limit is over before there is room for all pending gangs")
