"""Placers: functions that choose the GPUs of a job if a policy grants only a number of GPUs."""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice

from gsopt.scenario.cluster import ISLAND, MACHINE, Cluster


class FreeGpus:
    """The free GPUs of some machines, updated machine by machine.

    Parameters
    ----------
    cluster
        The cluster.
    machines
        Indices of the machines to consider, in ascending order. All other machines are ignored.
    free
        For each machine of the cluster, the indices of its free GPUs in ascending order. After a change,
        `recount` must be called.

    Attributes
    ----------
    cluster
        The cluster.
    machines
        Indices of the machines that are considered.
    count
        Number of free GPUs on these machines.

    Examples
    --------
    >>> free = FreeGpus(Cluster.uniform(machines=3, gpus=4), range(3), [[0, 3], [], [8, 9, 10]])
    >>> free.count, free.smallest(2), free.smallest(3), free.smallest(4)
    (5, 0, 2, None)
    >>> free.on(2), list(free.largest_first())
    ((8, 9, 10), [2, 0])
    """

    def __init__(self, cluster: Cluster, machines: Iterable[int], free: Sequence[Sequence[int]]) -> None:
        self.cluster = cluster
        self.machines = frozenset(machines)
        self.count = 0
        self._free = free
        self._by_count: dict[int, list[int]] = {}  # machines by their number of free GPUs, ascending
        self._counts: list[int] = []  # the numbers of free GPUs that occur, ascending, but for 0
        self._between = [  # levels from rack to pod or so: group of every machine, free GPUs of every group
            (level, cluster.group_of(level), [0] * len(cluster.groups[level]))
            for level in cluster.levels[cluster.levels.index(MACHINE) + 1 : -1]
        ]
        self._machines_in: dict[tuple[str, int], list[int]] = {}
        self._islands_of: dict[int, list[int]] = {}  # of machines that have any
        self._island_of = cluster.group_of_gpu(ISLAND) if ISLAND in cluster.levels else ()
        self._in_island = [0] * len(cluster.groups.get(ISLAND, ()))  # free GPUs
        for machine in sorted(self.machines):
            if cluster.machines[machine].islands:
                gpus = cluster.gpus_of[cluster.machines[machine].name]
                self._islands_of[machine] = sorted({self._island_of[gpu] for gpu in gpus})
            for level, group_of, _ in self._between:
                self._machines_in.setdefault((level, group_of[machine]), []).append(machine)
            self.recount(machine, 0, len(free[machine]))

    def on(self, machine: int, count: int | None = None) -> tuple[int, ...]:
        """Return the free GPUs of a machine, or `count` of them from as few islands as possible.

        If any islands have enough free GPUs, the GPUs come from the one among them with the fewest.
        Otherwise, islands are used in descending order of free GPUs. Ties go to the first island. If the
        machine has at most `count` free GPUs, all of them are returned.
        """
        free = self._free[machine]
        if count is None or count >= len(free):
            return tuple(free)
        if machine not in self._islands_of:
            return tuple(free[:count])
        islands = [list(gpus) for _, gpus in groupby(free, self._island_of.__getitem__)]
        if suffice := [gpus for gpus in islands if len(gpus) >= count]:
            return tuple(min(suffice, key=len)[:count])
        return tuple(gpu for gpus in sorted(islands, key=len, reverse=True) for gpu in gpus)[:count]

    def smallest(self, count: int) -> int | None:
        """Return the first machine with the fewest free GPUs among those with at least `count`, or None."""
        position = bisect_left(self._counts, count)
        return self._by_count[self._counts[position]][0] if position < len(self._counts) else None

    def on_smallest_island(self, count: int) -> tuple[int, ...]:
        """Return `count` free GPUs of the island with the fewest free GPUs that suffice, or an empty tuple.

        Ties go to the first island. The tuple is empty if no island suffices, and always for a single GPU.
        """
        if count == 1 or not self._islands_of:
            return ()
        room = [
            (self._in_island[island], island, machine)
            for machine, islands in self._islands_of.items()
            for island in islands
            if self._in_island[island] >= count
        ]
        if not room:
            return ()
        _, island, machine = min(room)
        return tuple(gpu for gpu in self._free[machine] if self._island_of[gpu] == island)[:count]

    def smallest_group(self, count: int) -> Sequence[int] | None:
        """Return the machines of the group with the fewest free GPUs among those with at least `count`.

        The groups are those of the first level above machines, such as racks, or, if none of them has enough
        free GPUs, those of the next wider level, and so on. Ties go to the first group. The result is None if
        no group below the outermost level has enough.
        """
        for level, _, free_in in self._between:
            if room := [(free, group) for group, free in enumerate(free_in) if free >= count]:
                return self._machines_in[level, min(room)[1]]
        return None

    def largest_first(self, machines: Iterable[int] | None = None) -> Iterator[int]:
        """Yield the given machines (by default, all) that have free GPUs, in descending order of free GPUs.

        Ties keep their order.
        """
        if machines is None:
            for count in reversed(self._counts):
                yield from self._by_count[count]
            return
        free = self._free
        some = [machine for machine in machines if free[machine]]
        yield from sorted(some, key=lambda machine: -len(free[machine]))

    def recount(self, machine: int, before: int, after: int) -> None:
        """Record that a machine's number of free GPUs has changed from `before` to `after`."""
        if before:
            machines = self._by_count[before]
            del machines[bisect_left(machines, machine)]
            if not machines:
                del self._by_count[before]
                del self._counts[bisect_left(self._counts, before)]
        if after:
            if after not in self._by_count:
                self._by_count[after] = []
                insort(self._counts, after)
            insort(self._by_count[after], machine)
        self.count += after - before
        for _, group_of, free_in in self._between:
            free_in[group_of[machine]] += after - before
        if self._islands_of and machine in self._islands_of:
            for island in self._islands_of[machine]:
                self._in_island[island] = 0
            for gpu in self._free[machine]:
                self._in_island[self._island_of[gpu]] += 1


#: Function that chooses GPUs: (free GPUs, number) -> chosen GPUs. It is called only if enough GPUs are free.
Placer = Callable[[FreeGpus, int], Sequence[int]]


def consolidated(free: FreeGpus, count: int) -> tuple[int, ...]:
    """Return `count` free GPUs that are as close together as possible.

    The GPUs come from the innermost level at which a group suffices: an island (unless `count` is 1), a
    machine, a rack, and so on. Of the groups at this level with enough free GPUs, the one with the fewest is
    chosen. In a rack or a wider group, machines are used in descending order of free GPUs. Within a machine,
    `FreeGpus.on` chooses the islands. Ties go to the lower number.

    Examples
    --------
    >>> free = FreeGpus(Cluster.uniform(machines=2, gpus=4), range(2), [[0, 1, 2], [4, 5]])
    >>> consolidated(free, 2), consolidated(free, 4)
    ((4, 5), (0, 1, 2, 4))
    """
    together = free.on_smallest_island(count)
    if together:
        return together
    machine = free.smallest(count)
    if machine is not None:
        return free.on(machine, count)
    chosen: list[int] = []
    for machine in free.largest_first(free.smallest_group(count)):
        chosen += free.on(machine, count - len(chosen))
        if len(chosen) >= count:
            break
    return tuple(chosen)


def first_fit(free: FreeGpus, count: int) -> tuple[int, ...]:
    """Return `count` free GPUs of the first machine with room, or else of the first rack, and so on outwards.

    Islands inside machines are tried first. GPUs are taken in the order of their indices.
    """
    gpus = [gpu for machine in sorted(free.machines) for gpu in free.on(machine)]
    for level in free.cluster.levels:
        group_of = free.cluster.group_of_gpu(level)
        for _, own in groupby(gpus, group_of.__getitem__):
            if len(chosen := tuple(islice(own, count))) == count:
                return chosen
    return ()


def emptiest_first(free: FreeGpus, count: int) -> tuple[int, ...]:
    """Return `count` free GPUs from the machines with the most free GPUs; ties go to the first machine."""
    gpus = (gpu for machine in free.largest_first() for gpu in free.on(machine))
    return tuple(islice(gpus, count))
