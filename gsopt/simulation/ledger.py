"""Ledgers: which GPUs are held by whom, and the rules of holding them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from gsopt.cluster import Cluster, Tier
from gsopt.job import Job
from gsopt.simulation.policy import Allocation

#: Where a job goes when a policy gives a number of GPUs only: (cluster, free GPUs, number) -> GPUs.
Placer = Callable[[Cluster, tuple[int, ...], int], tuple[int, ...]]


class Forbidden(Exception):
    """A change that a rule forbids; its text is the rule. It leaves the simulator as IllegalDecision."""


class Ledger(Protocol):
    """Keeps who holds what; `take` raises Forbidden and changes nothing when a rule would be broken."""

    capacity: int
    free: int

    @property
    def occupied(self) -> int:
        """Number of GPUs that at least one job holds."""

    def take(self, number: int, job: Job, gpus: Allocation | None) -> int:
        """Give GPUs to a job and return their number."""

    def give_back(self, number: int, count: int) -> None:
        """Take all GPUs back from a job."""

    def change(self, number: int, job: Job, count: int, gpus: Allocation) -> int:
        """Exchange the GPUs of a job for others and return their number."""

    def fits(self, job: Job) -> bool:
        """Tell whether the job's demanded GPUs are free."""

    def placement(self, number: int) -> tuple[int, ...]:
        """Give the GPUs of a job by number, where they have numbers."""

    def tier(self, number: int) -> Tier:
        """Give the network tier that joins the GPUs of a job."""

    def partners(self, number: int) -> Iterable[int]:
        """Give the jobs that share a GPU with a job, ascending."""

    def displaced(self, capacity: int, running: Mapping[int, int]) -> list[int]:
        """Give the jobs that lose their GPUs when the capacity becomes this."""

    def set_capacity(self, capacity: int) -> None:
        """Change the number of GPUs; displaced jobs have given theirs back."""


def allowed_count(job: Job, count: int) -> int:
    """Give the count, or raise Forbidden when the job may not run on it."""
    if count != job.gpus and count not in job.counts:
        raise Forbidden(f"a job runs on an allowed number of GPUs ({', '.join(map(str, job.counts))})")
    return count


class Counts:
    """The ledger of a plain cluster: only numbers of GPUs."""

    def __init__(self, capacity: int) -> None:
        self.capacity = self.free = capacity

    @property
    def occupied(self) -> int:
        """Number of GPUs in use."""
        return self.capacity - self.free

    def take(self, number: int, job: Job, gpus: Allocation | None) -> int:
        """Give GPUs to a job and return their number."""
        del number
        count = job.gpus if gpus is None else self._count(job, gpus)
        if count > self.free:
            raise Forbidden(f"a job takes free GPUs ({self.free} are free)")
        self.free -= count
        return count

    def give_back(self, number: int, count: int) -> None:
        """Take all GPUs back from a job."""
        del number
        self.free += count

    def change(self, number: int, job: Job, count: int, gpus: Allocation) -> int:
        """Exchange the GPUs of a job for another number."""
        if gpus == count:
            raise Forbidden("a resize or move changes the GPUs")
        if self._count(job, gpus) > self.free + count:
            raise Forbidden(f"a job takes free GPUs ({self.free + count} are free)")
        self.free += count
        return self.take(number, job, gpus)

    def fits(self, job: Job) -> bool:
        """Tell whether the job's demanded GPUs are free."""
        return job.gpus <= self.free

    def placement(self, number: int) -> tuple[int, ...]:
        """Give nothing: the GPUs of a plain cluster have no numbers."""
        del number
        return ()

    def tier(self, number: int) -> Tier:
        """Give the machine tier: a plain cluster has no network."""
        del number
        return Tier.MACHINE

    def partners(self, number: int) -> Iterable[int]:
        """Give nobody: nothing is shared."""
        del number
        return ()

    def displaced(self, capacity: int, running: Mapping[int, int]) -> list[int]:
        """Give the jobs started last, until the others fit."""
        excess, out = self.occupied - capacity, []
        for number in reversed(running):
            if excess <= 0:
                break
            out.append(number)
            excess -= running[number]
        return out

    def set_capacity(self, capacity: int) -> None:
        """Change the number of GPUs."""
        self.free += capacity - self.capacity
        self.capacity = capacity

    @staticmethod
    def _count(job: Job, gpus: Allocation) -> int:
        if not isinstance(gpus, int):
            raise Forbidden("GPUs of a plain cluster have no numbers")
        return allowed_count(job, gpus)


class Placements:
    """The ledger of a cluster of racks: which GPU is held by which jobs."""

    def __init__(self, cluster: Cluster, share_limit: int, placer: Placer) -> None:
        self._cluster, self._share_limit, self._placer = cluster, share_limit, placer
        self._users: list[list[int]] = [[] for _ in range(cluster.gpus)]
        self._held: dict[int, tuple[int, ...]] = {}
        self._jobs: dict[int, Job] = {}
        self.capacity = self.free = cluster.gpus

    @property
    def occupied(self) -> int:
        """Number of GPUs that at least one job holds."""
        return self.capacity - self.free

    def free_gpus(self, kind: str = "") -> tuple[int, ...]:
        """Give the free GPUs by number, of one type or of any."""
        machines, machine_of = self._cluster.machines, self._cluster.machine_of
        free = (gpu for gpu in range(self.capacity) if not self._users[gpu])
        return tuple(gpu for gpu in free if not kind or machines[machine_of[gpu]].gpu_type == kind)

    def users(self, gpu: int) -> tuple[int, ...]:
        """Give the jobs on a GPU."""
        return tuple(self._users[gpu])

    def take(self, number: int, job: Job, gpus: Allocation | None) -> int:
        """Give GPUs to a job and return their number."""
        chosen = self._chosen(job, job.gpus if gpus is None else gpus)
        self._check(job, chosen)
        for gpu in chosen:
            self.free -= not self._users[gpu]
            self._users[gpu].append(number)
        self._held[number], self._jobs[number] = chosen, job
        return len(chosen)

    def give_back(self, number: int, count: int) -> None:
        """Take all GPUs back from a job."""
        del count
        for gpu in self._held.pop(number):
            self._users[gpu].remove(number)
            self.free += not self._users[gpu]
        del self._jobs[number]

    def change(self, number: int, job: Job, count: int, gpus: Allocation) -> int:
        """Exchange the GPUs of a job for others."""
        before = self._held[number]
        if gpus == count or (not isinstance(gpus, int) and sorted(gpus) == sorted(before)):
            raise Forbidden("a resize or move changes the GPUs")
        self.give_back(number, count)
        try:
            return self.take(number, job, gpus)
        except Forbidden:
            self.take(number, job, before)
            raise

    def fits(self, job: Job) -> bool:
        """Tell whether the job's demanded GPUs are free."""
        return job.gpus <= self.free and (not job.gpu_type or job.gpus <= len(self.free_gpus(job.gpu_type)))

    def placement(self, number: int) -> tuple[int, ...]:
        """Give the GPUs of a job by number."""
        return self._held.get(number, ())

    def tier(self, number: int) -> Tier:
        """Give the network tier that joins the GPUs of a job."""
        return self._cluster.tier(self._held[number])

    def partners(self, number: int) -> Iterable[int]:
        """Give the jobs that share a GPU with a job, ascending."""
        if self._share_limit == 1:
            return ()
        others = {user for gpu in self._held[number] for user in self._users[gpu]}
        return sorted(others - {number})

    def displaced(self, capacity: int, running: Mapping[int, int]) -> list[int]:
        """Give the jobs on GPUs that go away."""
        return [number for number in running if max(self._held[number]) >= capacity]

    def set_capacity(self, capacity: int) -> None:
        """Change the number of GPUs."""
        self.free += capacity - self.capacity
        self.capacity = capacity

    def _chosen(self, job: Job, gpus: Allocation) -> tuple[int, ...]:
        if not isinstance(gpus, int):
            chosen = tuple(sorted(gpus))
            if len(set(chosen)) < len(chosen):
                raise Forbidden("the GPUs of a job differ")
            allowed_count(job, len(chosen))
            return chosen
        count = allowed_count(job, gpus)
        free = self.free_gpus(job.gpu_type)
        if count > len(free):
            raise Forbidden(f"a job takes free GPUs ({len(free)} are free)")
        return tuple(sorted(self._placer(self._cluster, free, count)))

    def _check(self, job: Job, chosen: tuple[int, ...]) -> None:
        machines, machine_of = self._cluster.machines, self._cluster.machine_of
        for gpu in chosen:
            if not 0 <= gpu < self.capacity:
                raise Forbidden(f"GPU {gpu} is there")
            users, machine = self._users[gpu], machines[machine_of[gpu]]
            if len(users) >= self._share_limit:
                raise Forbidden(f"at most {self._share_limit} jobs hold GPU {gpu}")
            if job.gpu_type not in ("", machine.gpu_type):
                raise Forbidden(f"the job runs on {job.gpu_type} GPUs only")
            memory = sum(self._jobs[user].memory or 0 for user in users) + (job.memory or 0)
            if machine.memory is not None and memory > machine.memory:
                raise Forbidden(f"the jobs on GPU {gpu} fit its memory")


def consolidated(cluster: Cluster, free: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Place a job as close together as the free GPUs allow.

    The machine with the fewest free GPUs that suffice; else the rack with the fewest that suffice, its
    emptiest machines first; else the emptiest machines of all. Ties go to the lower number.

    Examples
    --------
    >>> cluster = Cluster.uniform(machines=2, gpus=4)
    >>> consolidated(cluster, (0, 1, 2, 4, 5), 2), consolidated(cluster, (0, 1, 2, 4, 5), 4)
    ((4, 5), (0, 1, 2, 4))
    """
    on_machine: dict[int, list[int]] = {}
    for gpu in free:
        on_machine.setdefault(cluster.machine_of[gpu], []).append(gpu)
    if room := [gpus for gpus in on_machine.values() if len(gpus) >= count]:
        return tuple(min(room, key=len)[:count])
    on_rack: dict[int, list[list[int]]] = {}
    for machine, gpus in on_machine.items():
        on_rack.setdefault(cluster.rack_of[machine], []).append(gpus)
    racks = [machines for machines in on_rack.values() if sum(map(len, machines)) >= count]
    within = min(racks, key=lambda machines: sum(map(len, machines))) if racks else on_machine.values()
    return tuple(gpu for gpus in sorted(within, key=len, reverse=True) for gpu in gpus)[:count]
