"""Cheapest first: a greedy algorithm that evicts gangs by cost per GPU, then undoes unnecessary evictions."""

from collections.abc import Sequence
from fractions import Fraction

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import NoSolution, heuristic
from gsopt.core.numbers.grid import decimal
from gsopt.problems.admission import Admission, AdmissionSolution, Places, Running
from gsopt.problems.rooms import Rooms


@heuristic
def cheapest_first(problem: Admission, *, budget: Budget = UNLIMITED) -> AdmissionSolution | NoSolution:
    """Evict gangs, lowest cost per GPU first, until all pending gangs fit, then undo unnecessary evictions.

    The evictions are reconsidered in reverse order: each is undone if the pending gangs still fit.

    The pending gangs are placed in the order of the instance, each as tightly as possible. Gangs are never
    moved. The algorithm may find no solution if several pending gangs, or different workers of one gang,
    compete for the same room.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit. When it is reached, no more evictions are undone.

    Notes
    -----
    Complexity: O(E P M log M + W log E) for E evictable gangs, P pending gangs, M machines, and W pairs of an
    evictable gang and one of its machines, if pending gangs have one part.

    Source: ours. The two passes are those of Kueue's classical preemption.

    Examples
    --------
    >>> from gsopt.problems.admission import Gang, Part
    >>> from gsopt.problems.placement import Resources
    >>> from gsopt.scenario.cluster import Cluster
    >>> four = [Part(needs=Resources(gpu=4))]
    >>> problem = Admission(
    ...     cluster=Cluster.uniform(machines=2, gpus=8),
    ...     running=[
    ...         Running(name=f"r{index}", parts=four, on=[{f"machine 0.{machine}": 1}], cost=cost)
    ...         for index, (machine, cost) in enumerate([(0, 1.0), (0, 9.0), (1, 2.0), (1, 3.0)])
    ...     ],
    ...     pending=[Gang(name="new", parts=[Part(needs=Resources(gpu=8))], priority=1)],
    ... )
    >>> cheapest_first(problem).solution.evicted
    ('r2', 'r3')
    """
    able = [gang for gang in problem.running if problem.evictable(gang)]
    order = sorted(able, key=lambda gang: decimal(gang.cost) / Fraction(max(gang.gpus, 1)))
    evicted, rooms = _fewest(problem, order)
    placed = _placed(problem, rooms)
    if placed is None:
        return NoSolution(problem.obstacle or "found no room", proven=bool(problem.obstacle))
    kept: set[str] = set()
    for gang in reversed(evicted):
        if budget.passed:
            break
        rooms.start(gang, gang.on)
        again = _placed(problem, rooms) if (rooms.free >= 0).all() else None
        if again is None:
            rooms.stop(gang, gang.on)
        else:
            placed = again
            kept.add(gang.name)
    return AdmissionSolution(evicted=[gang.name for gang in evicted if gang.name not in kept], placed=placed)


def _fewest(problem: Admission, order: Sequence[Running]) -> tuple[Sequence[Running], Rooms]:
    """Return the shortest prefix of `order` that makes enough room if evicted, and the resulting rooms."""
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        if _placed(problem, _without(problem, order[:middle])) is None:
            low = middle + 1
        else:
            high = middle
    return order[:low], _without(problem, order[:low])


def _without(problem: Admission, gangs: Sequence[Running]) -> Rooms:
    rooms = Rooms(problem)
    for gang in gangs:
        rooms.stop(gang, gang.on)
    return rooms


def _placed(problem: Admission, rooms: Rooms) -> dict[str, Places] | None:
    """Return places for all pending gangs, or None if one does not fit; the rooms are left unchanged."""
    found: dict[str, Places] = {}
    for gang in problem.pending:
        places = rooms.fit(gang)
        if places is None:
            break
        found[gang.name] = places
        rooms.start(gang, places)
    for gang in problem.pending[: len(found)]:
        rooms.stop(gang, found[gang.name])
    return found if len(found) == len(problem.pending) else None
