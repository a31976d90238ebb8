"""Greedy: an algorithm that stops gangs by cost per useful GPU in each group, and picks the cheapest group."""

from collections.abc import Sequence
from fractions import Fraction

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import NoSolution, heuristic
from gsopt.core.numbers.grid import Exact, decimal, exact_total
from gsopt.problems.admission import Admission, AdmissionSolution, Running
from heuristics.admission.admitting import Stops, admit, check_time
from heuristics.admission.room import Room, Seats


@heuristic
def greedy(problem: Admission, *, budget: Budget = UNLIMITED) -> AdmissionSolution | NoSolution:
    """Stop gangs by cost per useful GPU in each group until there is room; choose the cheapest group.

    The groups are those at the pending gang's level (`within`), such as racks. In each group, evictable gangs
    of lower priority stop in ascending order of cost per useful GPU until the pending gang fits. Then each of
    them, the most expensive first, resumes if the pending gang still fits. A gang's useful GPUs are those on
    machines of the group that the pending gang may use, at most as many as the pending gang needs.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit. When it is reached, the best group found so far is chosen.

    Notes
    -----
    This is not from a paper. It is the usual greedy algorithm for covering problems, with reverse delete as in
    `heuristics.reclaiming.reverse_delete`.

    Complexity: O(R log R + M) for R pairs of a running gang and a group in which it has workers, and M machines
    of these gangs, counted once per pair, if pending gangs have one part.

    Examples
    --------
    >>> from gsopt.problems.admission import Gang, Part
    >>> from gsopt.problems.placement import Resources
    >>> from gsopt.scenario.cluster import Cluster
    >>> def part(gpus): return [Part(needs=Resources(gpu=gpus))]
    >>> running = [
    ...     Running(name="a", parts=part(8), on=[{"machine 0.0": 1}], cost=5.0),
    ...     Running(name="b", parts=part(8), on=[{"machine 1.0": 1}], cost=3.0),
    ... ]
    >>> pending = [Gang(name="new", parts=part(8), within="rack", priority=2)]
    >>> cluster = Cluster.uniform(racks=2, machines=1, gpus=8)
    >>> greedy(Admission(cluster=cluster, running=running, pending=pending)).solution.evicted
    ('b',)
    """

    def rule(room: Room, seats: Seats, candidates: Sequence[Running], budget: Budget) -> Stops | None:
        best: tuple[Exact, list[Running]] | None = None
        useful = _useful_gpus(room, seats, candidates)
        for group in sorted(useful):
            if best is None:
                check_time(budget)
            stopped = _cover(room, seats, group, useful[group], budget)
            for gang in stopped:
                room.resume(gang)
            if stopped:
                cost = exact_total([gang.cost for gang in stopped])
                if best is None or cost < best[0]:
                    best = cost, stopped
        if best is None:
            check_time(budget)
            return None
        for gang in best[1]:
            room.stop(gang)
        places = seats.place()
        return None if places is None else Stops(places)

    return admit(problem, rule, budget)


def _useful_gpus(
    room: Room, seats: Seats, candidates: Sequence[Running]
) -> dict[int, list[tuple[Running, int]]]:
    """Return the candidates in each group, with how many useful GPUs each would free there."""
    problem = room.problem
    eligible = frozenset[int]().union(*(problem.eligible(part) for part in seats.gang.parts))
    found: dict[int, list[tuple[Running, int]]] = {}
    for gang in candidates:
        gpus: dict[int, int] = {}
        for part, machines in zip(gang.parts, gang.on, strict=True):
            for name, number in machines.items():
                machine = problem.position[name]
                if machine in eligible:
                    group = seats.group(machine)
                    gpus[group] = gpus.get(group, 0) + part.needs.gpu * number
        for group, number in gpus.items():
            found.setdefault(group, []).append((gang, min(number, seats.gang.gpus)))
    return found


def _cover(
    room: Room, seats: Seats, group: int, useful: Sequence[tuple[Running, int]], budget: Budget
) -> list[Running]:
    """Return the gangs that must stop so that the pending gang fits into a group; empty if it cannot fit."""
    stopped: list[Running] = []
    for gang, _ in sorted(useful, key=lambda each: Fraction(decimal(each[0].cost)) / (each[1] or 1)):
        if budget.passed:
            break
        room.stop(gang)
        stopped.append(gang)
        if _fits(seats, group):
            break
    if not _fits(seats, group):
        for gang in stopped:
            room.resume(gang)
        return []
    for gang in sorted(stopped, key=lambda gang: -gang.cost):
        if budget.passed:
            break
        room.resume(gang)
        if _fits(seats, group):
            stopped.remove(gang)
        else:
            room.stop(gang)
    return stopped


def _fits(seats: Seats, group: int) -> bool:
    if group not in seats.able:
        return False
    return len(seats.gang.parts) == 1 or seats.place(within=[group]) is not None
