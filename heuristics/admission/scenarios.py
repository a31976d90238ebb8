"""Scenarios: KAI-Scheduler's search for gangs that can stop to make room for a pending gang."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from gsopt.core.budget import Budget
from gsopt.problems.admission import Gang, Places, Running
from heuristics.admission.admitting import Stops, check_time, started
from heuristics.admission.room import Room, Seats, pack


@dataclass(frozen=True)
class _Solved:
    """A successful scenario: the gangs that leave their machines, with new places for those not evicted."""

    left: dict[str, tuple[Running, Places | None]]
    places: Places


class Solver:
    """The search for one pending gang, as described in `heuristics.admission.kai`.

    Parameters
    ----------
    room
        The room, with the free resources. After a successful search, the evicted and moved gangs in it are
        stopped.
    gang
        The pending gang.
    order
        The candidates, in the order in which they are gathered.
    budget
        Time limit.
    evicting
        Whether gangs may be evicted. If not, all of them must be placed again.
    """

    def __init__(
        self, room: Room, gang: Gang, order: Sequence[Running], budget: Budget, *, evicting: bool = True
    ) -> None:
        self._room, self._gang, self._order = room, gang, order
        self._rank = {each.name: rank for rank, each in enumerate(order, start=1)}
        self._budget, self._evicting = budget, evicting
        self._open = {machine for machine, free in enumerate(room.free) if self._gpus(free)}

    def _gpus(self, free: Sequence[int]) -> int:
        """Return the GPUs in a vector of resources, or the sum of all resources if the gangs need no GPUs."""
        names = self._room.problem.resources
        return free[names.index("gpu")] if "gpu" in names else sum(free)

    def solve(self, *, node_local: bool) -> Stops | None:
        """Find a scenario that makes room for all workers of the pending gang, or return None.

        Scenarios and `node_local` are described in `heuristics.admission.kai`.
        """
        total = sum(part.count for part in self._gang.parts)
        for by_node in (True, False) if node_local else (False,):
            recorded: list[Running] = []
            if not self._most(total, recorded, by_node=by_node):
                continue
            found = self._probe(total, recorded, by_node=by_node)
            if found is not None:
                for gang, _ in found.left.values():
                    self._room.stop(gang)
                moved = {name: new for name, (_, new) in found.left.items() if new is not None}
                return Stops(found.places, moved)
        return None

    def _most(self, total: int, recorded: list[Running], *, by_node: bool) -> int:
        """Return for how many workers room can be made, and record the gangs that leave for them.

        The number of workers is doubled until the search fails. Then the largest number is found by
        bisection.
        """
        most, least_failed, number = 0, total + 1, 1
        while least_failed - most > 1:
            found = self._probe(number, recorded, by_node=by_node)
            if found is None:
                least_failed = number
            else:
                most = number
                recorded[:] = [gang for gang, _ in found.left.values()]
            number = min(2 * number, total) if least_failed > total else (most + least_failed) // 2
        return most

    def _probe(self, number: int, recorded: Sequence[Running], *, by_node: bool) -> _Solved | None:
        """Try scenarios for the first `number` workers of the gang, in which the recorded gangs stop too."""
        counts = _first(self._gang, number)
        for gang in recorded:
            self._room.stop(gang)
        seats = Seats(self._room, self._gang, counts)
        self._room.watch(seats)
        try:
            for scenario in self._scenarios(counts, recorded, by_node=by_node):
                check_time(self._budget)
                solved = self._simulate(seats, [*recorded, *scenario], scenario)
                if solved is not None:
                    return solved
            return None
        finally:
            self._room.forget(seats)
            for gang in recorded:
                self._room.resume(gang)

    def _scenarios(
        self, counts: Sequence[int], recorded: Sequence[Running], *, by_node: bool
    ) -> Iterator[list[Running]]:
        """Yield, for each scenario in order, the gangs that stop in addition to the recorded ones."""
        known = {gang.name for gang in recorded}
        gathered = self._room.copy()
        seats = Seats(gathered, self._gang, counts)
        gathered.watch(seats)
        if recorded and seats.able:
            yield []
        on: dict[int, list[Running]] = {}
        for gang in self._order:
            check_time(self._budget)
            if gang.name in known:
                continue
            for machine in gathered.machines(gang):
                on.setdefault(machine, []).append(gang)
            gathered.stop(gang)
            if not seats.able:
                continue
            if by_node:
                for machine in sorted(gathered.machines(gang)):
                    yield on[machine]
            else:
                yield from self._prefixes(counts, recorded, gathered, on)

    def _prefixes(
        self,
        counts: Sequence[int],
        recorded: Sequence[Running],
        gathered: Room,
        on: dict[int, list[Running]],
    ) -> Iterator[list[Running]]:
        """Yield the gangs on more and more machines, in ascending order of GPUs that would be free there."""
        parts = [(part.needs.gpu, count) for part, count in zip(self._gang.parts, counts, strict=True) if count]
        demand, smallest = sum(gpus * count for gpus, count in parts), min(gpus for gpus, _ in parts)
        after = {machine: self._gpus(gathered.free[machine]) for machine in on}
        order = [machine for machine in on if after[machine] >= smallest]
        order.sort(key=after.__getitem__)
        usable = self._open.union(*(self._room.machines(gang) for gang in recorded))
        size, held = 0, sum(self._gpus(self._room.free[machine]) for machine in usable if machine not in on)
        while held < demand:
            if size == len(order):
                return
            held += after[order[size]]
            size += 1
        step = 1
        while True:
            yield list({gang.name: gang for machine in order[:size] for gang in on[machine]}.values())
            if size == len(order):
                return
            size, step = min(size + step, len(order)), 2 * step

    def _simulate(self, seats: Seats, victims: Sequence[Running], new: Sequence[Running]) -> _Solved | None:
        """Stop the new victims, place the workers and then the victims; undo everything afterwards."""
        for gang in new:
            self._room.stop(gang)
        solved = self._placed(seats, victims) if victims and seats.able else None
        for gang in new:
            self._room.resume(gang)
        return solved

    def _placed(self, seats: Seats, victims: Sequence[Running]) -> _Solved | None:
        room = self._room
        usable = sorted(self._open.union(*(room.machines(gang) for gang in victims)))
        waiting: list[tuple[tuple[float, ...], Running | None]] = [
            ((-gang.priority, started(gang), -self._rank[gang.name]), gang) for gang in victims
        ]
        waiting.append(((-self._gang.priority, inf, 0), None))
        taken: list[tuple[Gang, Places]] = []
        left: dict[str, tuple[Running, Places | None]] = {}
        places: Places | None = None
        try:
            for _, gang in sorted(waiting, key=lambda each: each[0]):
                if gang is None:
                    places = seats.place(fullest=True)
                    if places is None:
                        return None
                    taken.append((self._gang, places))
                else:
                    new = self._returned(gang, usable)
                    if new is None and not self._evicting:
                        return None
                    if new is not None:
                        taken.append((gang, new))
                    if new != gang.on:
                        left[gang.name] = gang, new
                    if new is None:
                        continue
                room.take(*taken[-1])
        finally:
            for each, held in taken:
                room.give_back(each, held)
        return None if places is None else _Solved(left, places)

    def _returned(self, gang: Running, usable: Sequence[int]) -> Places | None:
        """Return where a stopped gang can run, preferably elsewhere if it may be moved, or None."""
        room = self._room
        if gang.move_cost is None:
            return gang.on if room.holds(gang) else None
        group_of = room.problem.cluster.group_of(gang.within or room.problem.cluster.levels[-1])
        groups: dict[int, list[int]] = {}
        for machine in usable:
            if self._gpus(room.free[machine]):
                groups.setdefault(group_of[machine], []).append(machine)
        fullest = sorted(groups.values(), key=lambda each: sum(self._gpus(room.free[m]) for m in each))
        for machines in fullest:
            places = pack(room, gang, machines, fullest=True)
            if places is not None:
                return places
        return gang.on if room.holds(gang) else None


def _first(gang: Gang, number: int) -> tuple[int, ...]:
    """Return how many workers of each part are among the first `number` workers of a gang."""
    counts = []
    for part in gang.parts:
        counts.append(min(part.count, number))
        number -= counts[-1]
    return tuple(counts)
