"""Machines: the choice of free GPUs on no more machines than a job needs."""

from collections.abc import Iterable, Iterator
from itertools import accumulate
from math import inf
from typing import Any

from gsopt.scenario.cluster import Machine
from gsopt.simulation.parts.tiers import Need
from gsopt.simulation.placer import FreeGpus, consolidated, emptiest_first
from gsopt.simulation.policy import State


class FewestMachines:
    """A chooser of free GPUs for jobs that would rather wait than run on more machines than they need.

    The number of machines that a job needs depends on all available machines, in use or not. Machines with more
    memory are considered only if those with less do not suffice. Of the machines considered, a job gets the one
    with the fewest free GPUs that suffice. If there is none, it gets several machines, in one rack if possible,
    emptiest first. If `machines` is given, only these machines are used. In a plain cluster, which has no
    machines, no job gets GPUs.
    """

    def __init__(self, state: State, machines: Iterable[int] | None = None) -> None:
        self._cluster = state.cluster
        every = range(len(state.cluster.machines))
        self._machines = tuple(every if machines is None else sorted(machines))
        self._free: list[list[int]] = []
        self._books: dict[tuple[int, ...], FreeGpus] = {}
        self._seen: Any = None
        self._there = [0] * len(every)  # GPUs of each machine that are there
        self._suitable: dict[tuple[str, int | None], tuple[int, ...]] = {}
        self._fewest: dict[Need, int | None] = {}

    def look(self, state: State, free: Iterable[int] | None = None) -> None:
        """Record the free GPUs or, if `free` is given, the GPUs that should count as free."""
        self._count_present(state)
        self._books.clear()
        self._free = [[] for _ in self._there]
        for gpu in state.free_gpus() if free is None else sorted(free):
            self._free[self._cluster.machine_of[gpu]].append(gpu)

    def could(self, need: Need) -> bool:
        """Check whether a job would fit if the machines available at the last call to `look` were all empty."""
        return self._machines_needed(need) is not None

    def find(self, need: Need) -> tuple[int, ...] | None:
        """Return the free GPUs on which a job may start, in ascending order, or None if it must wait."""
        most = self._machines_needed(need)
        if most is None:
            return None
        return next((chosen for chosen in self._candidates(need) if self._machines_of(chosen) <= most), None)

    def nearest(self, need: Need) -> tuple[int, ...] | None:
        """Return free GPUs on as few machines as possible, or None if too few are free."""
        return self.find(need) or min(self._candidates(need), key=self._machines_of, default=None)

    def _candidates(self, need: Need) -> Iterator[tuple[int, ...]]:
        """Yield sets of free GPUs for a job, those with the least memory first."""
        suitable = self._suits(need)
        for most in sorted({_memory(self._cluster.machines[machine]) for machine in suitable}):
            machines = (each for each in suitable if _memory(self._cluster.machines[each]) <= most)
            book = self._book(tuple(machines))
            if need.gpus <= book.count:
                yield tuple(sorted(consolidated(book, need.gpus)))
                yield tuple(sorted(emptiest_first(book, need.gpus)))

    def _machines_of(self, gpus: Iterable[int]) -> int:
        return len({self._cluster.machine_of[gpu] for gpu in gpus})

    def suit(self, gpus: Iterable[int], need: Need) -> bool:
        """Check whether all the given GPUs are free and have the required type and memory."""
        machines, machine_of = self._suits(need), self._cluster.machine_of
        return all(machine_of[gpu] in machines and gpu in self._free[machine_of[gpu]] for gpu in gpus)

    def take(self, gpus: Iterable[int]) -> None:
        """Record that GPUs are no longer free, ignoring GPUs that were not free."""
        for gpu in gpus:
            machine = self._cluster.machine_of[gpu]
            free = self._free[machine]
            if gpu in free:
                before = len(free)
                free.remove(gpu)
                for machines, book in self._books.items():
                    if machine in machines:
                        book.recount(machine, before, before - 1)

    def _count_present(self, state: State) -> None:
        """Count the available GPUs of each machine.

        These are the first GPUs of the available servers, up to the capacity.
        """
        seen = state.capacity, state.servers
        if seen == self._seen:
            return
        self._seen = seen
        self._fewest.clear()
        left, names = state.capacity, set(state.servers)
        for number, machine in enumerate(self._cluster.machines):
            size = min(machine.gpus, left) if machine.name in names else 0
            self._there[number] = size
            left -= size

    def _machines_needed(self, need: Need) -> int | None:
        """Return the smallest number of machines that a job needs, or None if it does not fit at all."""
        if need not in self._fewest:
            sizes = sorted((self._there[machine] for machine in self._suits(need)), reverse=True)
            enough = (k for k, gpus in enumerate(accumulate(sizes), start=1) if gpus >= need.gpus)
            self._fewest[need] = next(enough, None)
        return self._fewest[need]

    def _suits(self, need: Need) -> tuple[int, ...]:
        """Return the machines whose type and memory suit a job."""
        key = need.gpu_type, need.memory
        if key not in self._suitable:
            self._suitable[key] = tuple(
                number
                for number in self._machines
                if need.gpu_type in {"", (machine := self._cluster.machines[number]).gpu_type}
                and (machine.memory is None or machine.memory >= (need.memory or 0))
            )
        return self._suitable[key]

    def _book(self, machines: tuple[int, ...]) -> FreeGpus:
        if machines not in self._books:
            self._books[machines] = FreeGpus(self._cluster, machines, self._free)
        return self._books[machines]


def _memory(machine: Machine) -> float:
    """Return the memory of each GPU of a machine, or infinity if it is unknown."""
    return inf if machine.memory is None else machine.memory
