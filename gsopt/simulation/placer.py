"""Placers: where a job goes when a policy gives a number of GPUs only, and the free GPUs to choose from."""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Sequence

from gsopt.cluster import Cluster


class FreeGpus:
    """The free GPUs of machines, in books that are kept instead of made: a change costs one machine.

    Parameters
    ----------
    cluster
        The cluster.
    machines
        Numbers of the machines that count, ascending; no others do.
    free
        The free GPUs of every machine of the cluster, ascending. Whoever changes one calls `recount`.

    Attributes
    ----------
    cluster
        The cluster.
    machines
        Numbers of the machines that count.
    count
        Number of free GPUs.

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
        self._machines_in: list[list[int]] = [[] for _ in cluster.racks]
        self._count_in = [0] * len(cluster.racks)
        for machine in sorted(self.machines):
            self._machines_in[cluster.rack_of[machine]].append(machine)
            self.recount(machine, 0, len(free[machine]))

    def on(self, machine: int) -> tuple[int, ...]:
        """Give the free GPUs of a machine."""
        return tuple(self._free[machine])

    def smallest(self, count: int) -> int | None:
        """Find the machine with the fewest free GPUs that has `count`, the first of equals; None without."""
        position = bisect_left(self._counts, count)
        return self._by_count[self._counts[position]][0] if position < len(self._counts) else None

    def smallest_rack(self, count: int) -> int | None:
        """Find the rack with the fewest free GPUs that has `count`, the first of equals; None without."""
        room = [(free, rack) for rack, free in enumerate(self._count_in) if free >= count]
        return min(room)[1] if room else None

    def largest_first(self, rack: int | None = None) -> Iterator[int]:
        """Give the machines with free GPUs, the most first, of one rack or of all; equals as they stand."""
        if rack is None:
            for count in reversed(self._counts):
                yield from self._by_count[count]
            return
        free = self._free
        some = [machine for machine in self._machines_in[rack] if free[machine]]
        yield from sorted(some, key=lambda machine: -len(free[machine]))

    def recount(self, machine: int, before: int, after: int) -> None:
        """Take note of a machine's number of free GPUs."""
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
        self._count_in[self.cluster.rack_of[machine]] += after - before


#: Chooses so many of the free GPUs: (free GPUs, number) -> GPUs. It is asked when there are enough.
Placer = Callable[[FreeGpus, int], Sequence[int]]


def consolidated(free: FreeGpus, count: int) -> tuple[int, ...]:
    """Place a job as close together as the free GPUs allow.

    The machine with the fewest free GPUs that suffice; else the rack with the fewest that suffice, its
    emptiest machines first; else the emptiest machines of all. Ties go to the lower number.

    Examples
    --------
    >>> free = FreeGpus(Cluster.uniform(machines=2, gpus=4), range(2), [[0, 1, 2], [4, 5]])
    >>> consolidated(free, 2), consolidated(free, 4)
    ((4, 5), (0, 1, 2, 4))
    """
    machine = free.smallest(count)
    if machine is not None:
        return free.on(machine)[:count]
    chosen: list[int] = []
    for machine in free.largest_first(free.smallest_rack(count)):
        chosen += free.on(machine)
        if len(chosen) >= count:
            break
    return tuple(chosen[:count])


def first_fit(free: FreeGpus, count: int) -> tuple[int, ...]:
    """Place a job on the first machine that has room, else in the first rack that has, else anywhere.

    In the rack, and anywhere, the machines are filled in their order.

    Examples
    --------
    >>> free = FreeGpus(Cluster.uniform(machines=2, gpus=4), range(2), [[0, 1, 2], [4, 5]])
    >>> first_fit(free, 2), first_fit(free, 4)
    ((0, 1), (0, 1, 2, 4))
    """
    machines = sorted(free.machines)
    for group in (range(len(free.cluster.machines)), free.cluster.rack_of):
        room: dict[int, list[int]] = {}
        for machine in machines:
            room.setdefault(group[machine], []).extend(free.on(machine))
        for gpus in room.values():
            if len(gpus) >= count:
                return tuple(gpus[:count])
    return tuple(gpu for machine in machines for gpu in free.on(machine))[:count]
