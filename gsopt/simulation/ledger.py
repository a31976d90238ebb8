"""Ledgers: the available GPUs, and the jobs that hold them.

A ledger follows a plan step by step, so too many jobs may temporarily hold a GPU. The method `check` checks
the final result.
"""

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from math import inf

from gsopt.scenario.cluster import Cluster, Machine, Tier
from gsopt.scenario.job import Job
from gsopt.simulation.placer import FreeGpus, Placer


class Forbidden(Exception):
    """An error that is raised if a change breaks a rule, which the message states.

    Users see it as `IllegalDecision`.
    """


class PlainLedger:
    """The ledger of a plain cluster. It only counts GPUs, because they have no indices."""

    def __init__(self, capacity: int) -> None:
        self.capacity = self.free = self._limit = capacity
        self.given_up = 0
        self.shared = 0
        self.stirred: set[int] = set()

    @property
    def occupied(self) -> int:
        """Number of GPUs in use."""
        return self.capacity - self.free

    def place(self, number: int, job: Job, mode: str, count: int) -> bool:
        """Grant free GPUs to a job, or return False if there are too few."""
        del number, job, mode
        if count > self.free:
            return False
        self.free -= count
        return True

    def take(self, number: int, job: Job, mode: str, gpus: Sequence[int]) -> None:
        """Raise `Forbidden`, because the GPUs of a plain cluster have no indices."""
        del number, job, mode, gpus
        raise Forbidden("GPUs of a plain cluster have no numbers")

    def give_back(self, number: int, count: int) -> None:
        """Release the GPUs of a job."""
        del number
        self.free += count

    def check(self, number: int) -> None:
        """Do nothing, because only free GPUs are ever granted."""

    def room(self, job: Job, mode: str) -> int:
        """Return the number of free GPUs, which are all alike."""
        del job, mode
        return self.free

    def offer(self, job: Job, mode: str, count: int, placer: Placer | None = None) -> tuple[int, ...]:
        """Return an empty tuple, because the GPUs of a plain cluster have no indices."""
        del job, mode, count, placer
        return ()

    def placement(self, number: int) -> tuple[int, ...]:
        """Return an empty tuple, because the GPUs of a plain cluster have no indices."""
        del number
        return ()

    def tier(self, number: int) -> str:
        """Return the machine tier, because a plain cluster has no network."""
        del number
        return Tier.MACHINE

    def partners(self, number: int) -> Sequence[int]:
        """Return an empty sequence, because no GPU is shared."""
        del number
        return ()

    def displaced(self, limit: int, running: Mapping[int, int]) -> list[int]:
        """Return the jobs that must stop before the limit falls to `limit`, most recently started first."""
        return self._last_started(max(limit - self.given_up, 0), running)

    def displaced_by(self, gpus: int, running: Mapping[int, int]) -> list[int]:
        """Return the jobs that must stop before `gpus` GPUs can be given up, most recently started first."""
        return self._last_started(max(self.capacity - gpus, 0), running)

    def set_limit(self, limit: int) -> None:
        """Set the limit on available GPUs, from which GPUs given up on request are subtracted."""
        self._limit = limit
        self._count()

    def give_up(self, gpus: int) -> None:
        """Hand free GPUs back to their owner, or receive GPUs from the owner if the number is negative."""
        self.given_up += gpus
        self._count()

    def _last_started(self, capacity: int, running: Mapping[int, int]) -> list[int]:
        excess, out = self.occupied - capacity, []
        for number in reversed(running):
            if excess <= 0:
                break
            out.append(number)
            excess -= running[number]
        return out

    def _count(self) -> None:
        capacity = max(self._limit - self.given_up, 0)
        self.free += capacity - self.capacity
        self.capacity = capacity


class Placements:
    """The ledger of a cluster with machines: the available GPUs, and the jobs that hold them."""

    def __init__(self, cluster: Cluster, share_limit: int, placer: Placer) -> None:
        self._cluster, self._share_limit, self._placer = cluster, share_limit, placer
        self._machine_of, self._join = cluster.machine_of, cluster.numbered.join
        self._gpus_of = tuple(cluster.gpus_of.values())
        self._users: list[list[int]] = [[] for _ in range(cluster.gpus)]
        self._held: dict[int, tuple[int, ...]] = {}
        self._memory: dict[int, int] = {}  # of the jobs that need any, on each of their GPUs
        self._free = [list(gpus) for gpus in self._gpus_of]
        self._there = [len(gpus) for gpus in self._gpus_of]  # number of GPUs of every machine that are there
        self._limit = cluster.gpus
        self._away: set[int] = set()  # machines
        self._servers: tuple[str, ...] | None = None  # names of machines that are there; None after a change
        self._memories = sorted({_memory(machine) for machine in cluster.machines})
        self._rooms: dict[tuple[str, int, float], FreeGpus] = {}
        self._room_of_machines: dict[tuple[int, ...], FreeGpus] = {}
        self._rooms_with: list[list[FreeGpus]] = [[] for _ in self._gpus_of]
        self.capacity = self.free = cluster.gpus
        self.shared = 0
        self.stirred: set[int] = set()

    @property
    def occupied(self) -> int:
        """Number of GPUs that at least one job holds."""
        return self.capacity - self.free

    # What there is

    def is_there(self, machine: int) -> bool:
        """Check whether a machine is present. Its GPUs may still be unavailable because of a capacity limit."""
        return machine not in self._away

    def servers(self) -> tuple[str, ...]:
        """Return the names of the machines that are present, even if a capacity limit excludes their GPUs."""
        if self._servers is None:
            machines, away = self._cluster.machines, self._away
            self._servers = tuple(each.name for number, each in enumerate(machines) if number not in away)
        return self._servers

    def free_gpus(self, kind: str = "") -> tuple[int, ...]:
        """Return the indices of the free GPUs of the given type or, by default, of all types."""
        if not kind:
            return tuple(chain.from_iterable(self._free))
        pairs = zip(self._cluster.machines, self._free, strict=True)
        return tuple(chain.from_iterable(free for machine, free in pairs if machine.gpu_type == kind))

    def users(self, gpu: int) -> tuple[int, ...]:
        """Return the jobs that hold the given GPU."""
        return tuple(self._users[gpu])

    def memory(self, gpu: int) -> int | None:
        """Return the free memory of a GPU in bytes, or None if memory is unlimited."""
        size = self._cluster.machines[self._machine_of[gpu]].memory
        return None if size is None else size - sum(self._memory.get(user, 0) for user in self._users[gpu])

    def users_of_machine(self, machine: int) -> list[int]:
        """Return the jobs on a machine, in ascending order."""
        return sorted({user for gpu in self._gpus_of[machine] for user in self._users[gpu]})

    def displaced(self, limit: int, running: Mapping[int, int]) -> list[int]:
        """Return the jobs that hold a GPU whose index is at least the limit."""
        return [number for number in running if self._held[number][-1] >= limit]

    def set_limit(self, limit: int) -> None:
        """Make only GPUs with indices below a limit available. Those of absent machines stay unavailable."""
        low, high = sorted((self._limit, limit))
        self._limit = limit
        if low < high:
            for machine in range(self._machine_of[low], self._machine_of[high - 1] + 1):
                self._recount_machine(machine)

    def leave(self, machine: int) -> None:
        """Remove an unused machine from the cluster."""
        self._away.add(machine)
        self._servers = None
        self._recount_machine(machine)

    def bring_back(self, machine: int) -> None:
        """Make an absent machine available again."""
        self._away.discard(machine)
        self._servers = None
        self._recount_machine(machine)

    # Who holds what

    def room(self, job: Job, mode: str) -> int:
        """Count the free GPUs on which a job may run."""
        return self._room(job, mode).count

    def place(self, number: int, job: Job, mode: str, count: int) -> bool:
        """Grant free GPUs, chosen by the placer, to a job; return False if there are too few."""
        room = self._room(job, mode)
        if count > room.count:
            return False
        self.take(number, job, mode, self._choose(room, count, self._placer))
        return True

    def offer(self, job: Job, mode: str, count: int, placer: Placer | None = None) -> tuple[int, ...]:
        """Return the free GPUs that a placer would choose, or an empty tuple if too few are free.

        The placer chooses once for each memory size, among the suitable GPUs with at most this memory. Of its
        choices, the one on the innermost tier is returned, with ties going to the smallest memory size.
        """
        tiers = self._cluster.levels.index
        closest = len(self._cluster.levels)
        best: tuple[int, ...] = ()
        for most in self._memories:
            room = self._room(job, mode, most)
            if count <= room.count:
                chosen = self._choose(room, count, placer or self._placer)
                tier = tiers(self._cluster.tier_between(chosen[0], chosen[-1]))
                if tier < closest:
                    closest, best = tier, chosen
        return best

    def _choose(self, room: FreeGpus, count: int, placer: Placer) -> tuple[int, ...]:
        """Return the GPUs that a placer chooses; raise `Forbidden` unless they are `count` GPUs of the room."""
        chosen = tuple(sorted(placer(room, count)))
        limit, users, machine_of, machines = self._limit, self._users, self._machine_of, room.machines
        free = all(0 <= gpu < limit and not users[gpu] and machine_of[gpu] in machines for gpu in chosen)
        if not free or len(chosen) != count or len(set(chosen)) != count:
            raise Forbidden(f"a placer must choose {count} free GPUs that suit the job")
        return chosen

    def take(self, number: int, job: Job, mode: str, gpus: Sequence[int]) -> None:
        """Grant the given GPUs to a job."""
        chosen = tuple(gpus)
        self._check_kind(job.gpu_type_in(mode) if mode else job.gpu_type, chosen)
        self._held[number] = chosen
        memory = job.memory_in(mode) if mode else job.memory
        if memory:
            self._memory[number] = memory
        self._occupy(gpu for gpu in chosen if not self._users[gpu])
        for gpu in chosen:
            users = self._users[gpu]
            if users:
                self.stirred.update(users)
                self.shared += len(users) == 1
            users.append(number)

    def give_back(self, number: int, count: int) -> None:
        """Release the GPUs of a job."""
        del count
        self._memory.pop(number, None)
        chosen = self._held.pop(number)
        for gpu in chosen:
            users = self._users[gpu]
            users.remove(number)
            if users:
                self.stirred.update(users)
                self.shared -= len(users) == 1
        self._vacate(gpu for gpu in chosen if not self._users[gpu])

    def check(self, number: int) -> None:
        """Raise `Forbidden` if one of a job's GPUs has too many jobs or too little memory."""
        for gpu in self._held[number]:
            users = self._users[gpu]
            jobs = ", ".join(map(str, users))
            if len(users) > self._share_limit:
                raise Forbidden(f"at most {self._share_limit} jobs may hold GPU {gpu} (not jobs {jobs})")
            memory = self.memory(gpu)
            if memory is not None and memory < 0:
                raise Forbidden(f"the jobs on GPU {gpu} must fit its memory (not jobs {jobs})")

    def placement(self, number: int) -> tuple[int, ...]:
        """Return the indices of a job's GPUs, or an empty tuple if it holds none."""
        return self._held.get(number, ())

    def tier(self, number: int) -> str:
        """Return the network tier that connects a job's GPUs."""
        held = self._held[number]
        return self._join(held[0], held[-1])

    def partners(self, number: int) -> Sequence[int]:
        """Return the jobs that share a GPU with a job, in ascending order."""
        if self._share_limit == 1:
            return ()
        others = {user for gpu in self._held[number] for user in self._users[gpu]}
        return sorted(others - {number})

    def _check_kind(self, kind: str, chosen: tuple[int, ...]) -> None:
        machines, machine_of = self._cluster.machines, self._machine_of
        limit, away = self._limit, self._away
        for gpu in chosen:
            if not 0 <= gpu < limit or machine_of[gpu] in away:
                raise Forbidden(f"GPU {gpu} must be available")
            if kind and kind != machines[machine_of[gpu]].gpu_type:
                raise Forbidden(f"the job must run on {kind} GPUs, and GPU {gpu} is of another type")

    def _room(self, job: Job, mode: str, most: float = inf) -> FreeGpus:
        """Return the free GPUs of a suitable type whose memory is sufficient but at most `most` bytes."""
        kind, memory = (job.gpu_type_in(mode), job.memory_in(mode)) if mode else (job.gpu_type, job.memory)
        need = (kind, memory or 0, most)
        if need not in self._rooms:
            self._rooms[need] = self._make_room(*need)
        return self._rooms[need]

    def _make_room(self, kind: str, least: int, most: float) -> FreeGpus:
        suitable = tuple(
            number
            for number, machine in enumerate(self._cluster.machines)
            if kind in ("", machine.gpu_type) and least <= _memory(machine) <= most
        )
        if suitable not in self._room_of_machines:
            room = self._room_of_machines[suitable] = FreeGpus(self._cluster, suitable, self._free)
            for machine in suitable:
                self._rooms_with[machine].append(room)
        return self._room_of_machines[suitable]

    def _occupy(self, gpus: Iterable[int]) -> None:
        for machine, own in self._by_machine(gpus):
            free = self._free[machine]
            before = len(free)
            for gpu in own:
                free.remove(gpu)
            self._recount(machine, before)

    def _vacate(self, gpus: Iterable[int]) -> None:
        for machine, own in self._by_machine(gpus):
            free = self._free[machine]
            before = len(free)
            for gpu in own:
                insort(free, gpu)
            self._recount(machine, before)

    def _by_machine(self, gpus: Iterable[int]) -> Iterator[tuple[int, Iterator[int]]]:
        return groupby(gpus, self._machine_of.__getitem__)

    def _recount(self, machine: int, before: int) -> None:
        after = len(self._free[machine])
        self.free += after - before
        for room in self._rooms_with[machine]:
            room.recount(machine, before, after)

    def _recount_machine(self, machine: int) -> None:
        """Update which GPUs of a machine are available. Unavailable GPUs have no users."""
        gpus = self._gpus_of[machine]
        there = range(
            gpus.start, gpus.start if machine in self._away else min(gpus.stop, max(self._limit, gpus.start))
        )
        before = len(self._free[machine])
        self._free[machine][:] = [gpu for gpu in there if not self._users[gpu]]
        self._recount(machine, before)
        self.capacity += len(there) - self._there[machine]
        self._there[machine] = len(there)


def _memory(machine: Machine) -> float:
    """Return the memory of each GPU of a machine in bytes, or infinity if it is not modelled."""
    return inf if machine.memory is None else machine.memory


#: A record of which GPUs are available and which jobs hold them.
Ledger = PlainLedger | Placements
