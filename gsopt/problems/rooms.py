"""Rooms: the free resources of machines as gangs stop and start, with a search for placements."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gsopt.problems.admission import Admission, Gang, Part, Places

#: Integers, one per machine or per group.
Numbers = NDArray[np.int64]


class Rooms:
    """The free resources of all machines in an admission problem, updated as gangs stop and start.

    This class is for methods that place one gang after another. The check of solutions does not use it.

    Attributes
    ----------
    free
        Free resources of each machine, shape (machines, resources), in the order of the problem's
        `resources`.

    Examples
    --------
    >>> from gsopt.problems.admission import Running
    >>> from gsopt.problems.placement import Resources
    >>> from gsopt.scenario.cluster import Cluster
    >>> two = [Part(count=2, needs=Resources(gpu=8))]
    >>> old = Running(name="old", parts=two, on=[{"machine 0.0": 1, "machine 1.0": 1}])
    >>> new = Gang(name="new", parts=two, within="rack", priority=1)
    >>> cluster = Cluster.uniform(racks=2, machines=2, gpus=8)
    >>> rooms = Rooms(Admission(cluster=cluster, running=[old], pending=[new]))
    >>> rooms.fit(new) is None
    True
    >>> rooms.stop(old, old.on)
    >>> rooms.fit(new)
    ({'machine 0.0': 1, 'machine 0.1': 1},)
    """

    def __init__(self, problem: Admission) -> None:
        self._problem = problem
        self._names = [machine.name for machine in problem.cluster.machines]
        shape = (len(self._names), len(problem.resources))
        self.free: Numbers = np.array(problem.free, dtype=np.int64).reshape(shape)

    def stop(self, gang: Gang, places: Places) -> None:
        """Release the resources that a gang uses on the given machines."""
        for machine, amounts in self._problem.load([(gang, places)]).items():
            self.free[machine] += amounts

    def start(self, gang: Gang, places: Places) -> None:
        """Take the resources that a gang needs on the given machines, even if they are not free."""
        for machine, amounts in self._problem.load([(gang, places)]).items():
            self.free[machine] -= amounts

    def copies(self, part: Part) -> Numbers:
        """Return how many of a part's workers fit on each machine; 0 where they may not run."""
        need = np.array(part.needs.vector(self._problem.resources), dtype=np.int64)
        asked = np.flatnonzero(need)
        most = (self.free[:, asked] // need[asked]).min(axis=1)
        eligible = self._problem.eligible(part)
        if len(eligible) < len(self._names):
            able = np.zeros(len(self._names), dtype=np.bool_)
            able[list(eligible)] = True
            most[~able] = 0
        found: Numbers = np.clip(most, 0, part.count)
        return found

    def fit(self, gang: Gang) -> Places | None:
        """Return a placement of the gang on free resources, or None if none is found.

        The groups at the gang's level are tried in ascending order of the number of its workers that fit there,
        counting each part by itself. Within a group, the machines with room for the most workers are filled
        first, but the last workers go to a machine with the least room that suffices. If workers form slices
        (`Part.slice`), whole slices are distributed in the same way over the groups at their level, and then
        the workers over the machines of each group.

        If the gang has a single part, a placement is found whenever one exists. Several parts are placed one
        after another, in descending order of worker size (by the first of the problem's `resources`, then by
        the second, and so on). This may fail even though a placement exists.
        """
        groups = self._problem.groups(gang)
        starts = [group.machines.start for group in groups]
        copies = [self.copies(part) for part in gang.parts]
        fits = np.ones(len(groups), dtype=np.bool_)
        room = np.zeros(len(groups), dtype=np.int64)
        for part, most in zip(gang.parts, copies, strict=True):
            held = np.add.reduceat(self._in_slices(part, most), starts)
            fits &= held >= part.count
            room += held
        for group in sorted(np.flatnonzero(fits).tolist(), key=room.__getitem__):
            machines = groups[group].machines
            if len(gang.parts) == 1:
                return (self._stand(gang.parts[0], copies[0], machines),)
            found = self._one_by_one(gang, machines)
            if found is not None:
                return found
        return None

    def _one_by_one(self, gang: Gang, machines: range) -> Places | None:
        """Place the parts of a gang one after another, largest workers first, or return None."""
        before = self.free[machines.start : machines.stop].copy()
        order = sorted(
            range(len(gang.parts)),
            key=lambda part: gang.parts[part].needs.vector(self._problem.resources),
            reverse=True,
        )
        found: dict[int, dict[str, int]] = {}
        for index in order:
            part = gang.parts[index]
            copies = self.copies(part)
            if self._in_slices(part, copies)[machines.start : machines.stop].sum() < part.count:
                break
            found[index] = self._stand(part, copies, machines)
            self.start(Gang(name=gang.name, parts=[part]), [found[index]])
        self.free[machines.start : machines.stop] = before
        return tuple(found[index] for index in range(len(gang.parts))) if len(found) == len(order) else None

    def _in_slices(self, part: Part, copies: Numbers) -> Numbers:
        """Return how many workers fit in whole slices, stored at the first machine of each slice group."""
        if not part.slice:
            return copies
        starts = [group.machines.start for group in self._problem.cluster.groups[part.slice_within]]
        found = np.zeros_like(copies)
        found[starts] = np.add.reduceat(copies, starts) // part.slice * part.slice
        return found

    def _stand(self, part: Part, copies: Numbers, machines: range) -> dict[str, int]:
        """Spread a part that fits over the given machines; return the number of workers on each."""
        numbers = copies[machines.start : machines.stop]
        if not part.slice:
            return self._named(_taken(numbers, part.count), machines.start)
        found: dict[str, int] = {}
        groups = list(self._slice_groups(part, machines))
        slices = np.array([copies[each.start : each.stop].sum() // part.slice for each in groups])
        for index, number in _taken(slices, part.slices).items():
            own = groups[index]
            taken = _taken(copies[own.start : own.stop], number * part.slice)
            found |= self._named(taken, own.start)
        return found

    def _slice_groups(self, part: Part, machines: range) -> Iterator[range]:
        """Yield the non-empty ranges of given machines in each group at the level of the part's slices."""
        for group in self._problem.cluster.groups[part.slice_within]:
            start, stop = max(group.machines.start, machines.start), min(group.machines.stop, machines.stop)
            if start < stop:
                yield range(start, stop)

    def _named(self, numbers: dict[int, int], start: int) -> dict[str, int]:
        return {self._names[start + index]: number for index, number in numbers.items()}


def _taken(most: Sequence[int] | NDArray[Any], count: int) -> dict[int, int]:
    """Return how many items to take from each place, keyed by the place's index, `count` in total.

    Places are used in descending order of room, but the last items go to the place with the least room that
    suffices.
    """
    numbers = np.asarray(most)
    order = np.argsort(-numbers, kind="stable").tolist()
    found: dict[int, int] = {}
    for place, index in enumerate(order):
        if not count:
            break
        if numbers[index] >= count:
            last = next(each for each in reversed(order[place:]) if numbers[each] >= count)
            found[last] = count
            break
        found[index] = int(numbers[index])
        count -= found[index]
    return dict(sorted(found.items()))
