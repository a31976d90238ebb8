"""Room: the free resources of machines while gangs stop and resume, and where a gang then fits.

`gsopt.problems.rooms` recounts all machines whenever it is asked where a gang fits. The rule of a scheduler
asks this after every gang that stops or resumes, so this module recounts only the machines of that gang.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from gsopt.problems.admission import Admission, Gang, Part, Places, Running
from gsopt.problems.placement import Vector


class Room:
    """The free resources of every machine, and the gangs that have stopped or moved.

    Attributes
    ----------
    problem
        The problem.
    free
        Free resources of each machine in cluster order: one list per machine, in the order of
        `Admission.resources`.
    stopped
        The gangs that no longer run at their original places, by name, in the order in which they stopped.
    settled
        The gangs that have new places, which are moved gangs and pending gangs.
    """

    def __init__(self, problem: Admission, usage: dict[str, dict[int, list[int]]] | None = None) -> None:
        self.problem = problem
        self.free = [list(amounts) for amounts in problem.free]
        self.stopped: dict[str, Running] = {}
        self.settled: list[Gang] = []
        self._usage = {} if usage is None else usage
        self._watching: list[Seats] = []

    def copy(self) -> "Room":
        """Return an independent copy of the room, which does not keep any seats up to date."""
        other = Room(self.problem, self._usage)
        other.free = [amounts.copy() for amounts in self.free]
        other.stopped, other.settled = self.stopped.copy(), self.settled.copy()
        return other

    def machines(self, gang: Running) -> Collection[int]:
        """Return the indices of the machines on which a gang was running originally."""
        return self._load(gang).keys()

    def stop(self, gang: Running) -> None:
        """Stop a gang and release the resources that it uses."""
        self.stopped[gang.name] = gang
        self._add(self._load(gang), 1)

    def resume(self, gang: Running) -> None:
        """Resume a stopped gang, which takes the same resources again."""
        del self.stopped[gang.name]
        self._add(self._load(gang), -1)

    def holds(self, gang: Running) -> bool:
        """Check whether a stopped gang still fits where it was running."""
        return all(
            left >= amount
            for machine, amounts in self._load(gang).items()
            for left, amount in zip(self.free[machine], amounts, strict=True)
        )

    def settle(self, gang: Gang, places: Places) -> None:
        """Start a gang at its new places."""
        self.settled.append(gang)
        self.take(gang, places)

    def take(self, gang: Gang, places: Places) -> None:
        """Take the resources that a gang needs at the given places."""
        self._add(self.problem.load([(gang, places)]), -1)

    def give_back(self, gang: Gang, places: Places) -> None:
        """Release the resources that a gang took at the given places."""
        self._add(self.problem.load([(gang, places)]), 1)

    def occupy(self, machine: int, need: Vector) -> None:
        """Take the resources that one worker needs on a machine."""
        self._add({machine: need}, -1)

    def watch(self, seats: "Seats") -> None:
        """Keep the given seats up to date from now on."""
        self._watching.append(seats)

    def forget(self, seats: "Seats") -> None:
        """Stop keeping the given seats up to date."""
        self._watching.remove(seats)

    def _load(self, gang: Running) -> dict[int, list[int]]:
        if gang.name not in self._usage:
            self._usage[gang.name] = self.problem.load([(gang, gang.on)])
        return self._usage[gang.name]

    def _add(self, load: Mapping[int, Sequence[int]], sign: int) -> None:
        for machine, amounts in load.items():
            free = self.free[machine]
            for index, amount in enumerate(amounts):
                free[index] += sign * amount
            for seats in self._watching:
                seats.recount(machine)


class Seats:
    """How many workers of a gang fit on each machine and into each group; `Room.watch` keeps this up to date.

    Each part is counted separately. If a gang has one part, each group in `able` can hold all its workers. If
    it has several parts, only `place` finds out whether they fit together.

    Attributes
    ----------
    gang
        The gang to be placed.
    able
        Indices of the groups at the gang's level that have room for each of its parts separately.
    """

    def __init__(self, room: Room, gang: Gang, counts: Sequence[int] | None = None) -> None:
        problem = room.problem
        self.gang, self._room = gang, room
        self._counts = counts
        self._groups = problem.groups(gang)
        self._group_of = problem.cluster.group_of(gang.within or problem.cluster.levels[-1])
        self._parts = [_PartSeats(room, part, self._group_of, len(self._groups)) for part in gang.parts]
        self._wanted = tuple(part.count for part in gang.parts) if counts is None else tuple(counts)
        self.able = {group for group in range(len(self._groups)) if self._enough(group)}

    def _enough(self, group: int) -> bool:
        return all(seats.total[group] >= count for seats, count in zip(self._parts, self._wanted, strict=True))

    def recount(self, machine: int) -> None:
        """Recount how many workers fit on a machine."""
        group = self._group_of[machine]
        changed = [seats.recount(machine) for seats in self._parts]
        if any(changed):
            (self.able.add if self._enough(group) else self.able.discard)(group)

    def group(self, machine: int) -> int:
        """Return the index of the group at the gang's level that contains a machine."""
        return self._group_of[machine]

    def fits(self) -> bool:
        """Check whether the gang fits into any group."""
        if len(self._parts) == 1:
            return bool(self.able)
        return self.place() is not None

    def place(self, *, fullest: bool = False, within: Iterable[int] | None = None) -> Places | None:
        """Return places for the gang in the group with the least room to spare, or None if none are found.

        Parameters
        ----------
        fullest
            Whether to use the fullest machines, as described in `pack`.
        within
            Indices of the groups to consider; None for all groups.
        """
        groups = self.able if within is None else self.able.intersection(within)
        for group in sorted(groups, key=lambda group: (self._spare(group), group)):
            places = pack(
                self._room, self.gang, self._groups[group].machines, counts=self._counts, fullest=fullest
            )
            if places is not None:
                return places
        return None

    def _spare(self, group: int) -> int:
        return sum(
            (seats.total[group] - count) * sum(seats.need.values())
            for seats, count in zip(self._parts, self._wanted, strict=True)
        )


class _PartSeats:
    """How many workers of one part fit on each machine and, in whole slices, into each group."""

    def __init__(self, room: Room, part: Part, group_of: Sequence[int], groups: int) -> None:
        self._free, self._group_of, self._part = room.free, group_of, part
        self.need, self._eligible = _need(room, part), room.problem.eligible(part)
        self._slice_of = room.problem.cluster.group_of(part.slice_within) if part.slice else group_of
        self._copies = [self._fitting(machine) for machine in range(len(room.free))]
        self._held: Counter[tuple[int, int]] = Counter()
        self.total = [0] * groups
        for machine, number in enumerate(self._copies):
            self._count(machine, number)

    def _fitting(self, machine: int) -> int:
        return _fitting(self._free[machine], self.need) if machine in self._eligible else 0

    def recount(self, machine: int) -> bool:
        """Recount the workers that fit on a machine; return whether their number changed."""
        number = self._fitting(machine)
        change = number - self._copies[machine]
        if not change:
            return False
        self._copies[machine] = number
        self._count(machine, change)
        return True

    def _count(self, machine: int, change: int) -> None:
        group = self._group_of[machine]
        if not self._part.slice:
            self.total[group] += change
            return
        key = (group, self._slice_of[machine])
        before = _whole(self._held[key], self._part)
        self._held[key] += change
        self.total[group] += _whole(self._held[key], self._part) - before


def pack(
    room: Room,
    gang: Gang,
    machines: Iterable[int],
    *,
    counts: Sequence[int] | None = None,
    fullest: bool = False,
) -> Places | None:
    """Return places for a gang on the given machines, regardless of its level, or None if none are found.

    Parts are placed in descending order of GPUs per worker. Slices are placed in the groups that have room for
    the most slices. Workers are placed on the machines that have room for the most workers, so that few
    machines are used, or, with `fullest`, on the machines with the fewest free resources.

    Parameters
    ----------
    room
        The room, with the free resources.
    gang
        The gang to be placed.
    machines
        Indices of the machines on which it may be placed.
    counts
        Number of workers of each part to place; None for all workers.
    fullest
        Whether to use the fullest machines, as described above.
    """
    machines = list(machines)
    chosen: list[dict[str, int]] = [{} for _ in gang.parts]
    rooms: dict[int, list[int]] = {}
    for index in sorted(range(len(gang.parts)), key=lambda index: (-gang.parts[index].needs.gpu, index)):
        part = gang.parts[index]
        need, eligible = _need(room, part), room.problem.eligible(part)
        copies = {
            machine: number
            for machine in machines
            if machine in eligible and (number := _fitting(rooms.get(machine) or room.free[machine], need))
        }
        if fullest:
            order = sorted(copies, key=lambda machine: (rooms.get(machine) or room.free[machine], machine))
        else:
            order = sorted(copies, key=lambda machine: (-copies[machine], machine))
        found = _choose(room, part, copies, order, part.count if counts is None else counts[index])
        if found is None:
            return None
        for machine, number in found.items():
            chosen[index][room.problem.cluster.machines[machine].name] = number
            if len(gang.parts) > 1:
                left = rooms.setdefault(machine, room.free[machine].copy())
                for resource, amount in need.items():
                    left[resource] -= amount * number
    return tuple(chosen)


def _need(room: Room, part: Part) -> dict[int, int]:
    vector = part.needs.vector(room.problem.resources)
    return {index: amount for index, amount in enumerate(vector) if amount}


def _fitting(free: Sequence[int], need: Mapping[int, int]) -> int:
    return max(0, min(free[index] // amount for index, amount in need.items()))


def _whole(number: int, part: Part) -> int:
    return number // part.slice * part.slice


def _choose(
    room: Room, part: Part, copies: Mapping[int, int], order: Sequence[int], count: int
) -> dict[int, int] | None:
    """Fill machines in the given order; return the workers on each, or None if they do not all fit."""
    if not part.slice:
        return _fill(order, copies, count)
    slice_of = room.problem.cluster.group_of(part.slice_within)
    members: dict[int, list[int]] = {}
    for machine in order:
        members.setdefault(slice_of[machine], []).append(machine)
    held = {group: _whole(sum(map(copies.__getitem__, each)), part) for group, each in members.items()}
    chosen: dict[int, int] = {}
    for group in sorted(held, key=lambda group: -held[group]):
        number = min(count, held[group])
        chosen |= _fill(members[group], copies, number) or {}
        count -= number
    return None if count else chosen


def _fill(order: Iterable[int], copies: Mapping[int, int], count: int) -> dict[int, int] | None:
    chosen = {}
    for machine in order:
        if not count:
            break
        chosen[machine] = min(count, copies[machine])
        count -= chosen[machine]
    return None if count else chosen
