"""Floor: the free GPUs of each machine during a decision, and the search for machines on which a job fits."""

from collections import Counter
from collections.abc import Iterable, Mapping

from gsopt.core.errors import require_one_of
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.simulation import State

#: Number of a job's GPUs on each machine, keyed by the machine's index.
Standing = Mapping[int, int]


class Floor:
    """The machines of a cluster, with their free GPUs and running jobs.

    A job with more GPUs than the largest machine that suits it takes whole machines of that size, and the rest
    from one more machine; any other job runs on one machine. A plain cluster is treated as a single machine.

    Attributes
    ----------
    cluster
        The cluster; a plain one is converted to a single machine.
    within
        Level at which all GPUs of a job must be in a single group of machines; empty for no restriction.
    free
        Indices of the free GPUs of each machine.
    on
        Machines and GPU counts of the running jobs, keyed by job.
    """

    def __init__(self, cluster: Cluster, within: str) -> None:
        self._plain = cluster.is_plain
        self.cluster = Cluster.uniform(machines=1, gpus=cluster.gpus) if self._plain else cluster
        levels = self.cluster.levels[self.cluster.levels.index("machine") :]
        require_one_of("within", within, ("", *levels))
        self.within = within
        self.free: list[list[int]] = []
        self.on: dict[int, Standing] = {}

    def look(self, state: State) -> None:
        """Read the free GPUs and the running jobs from the state."""
        self.free = [[] for _ in self.cluster.machines]
        for gpu in range(max(state.free, 0)) if self._plain else sorted(state.free_gpus()):
            self.free[self.cluster.machine_of[gpu]].append(gpu)
        self.on = {job: self._standing(state, job) for job in state.running}

    def _standing(self, state: State, job: int) -> Standing:
        if self._plain:
            return {0: state.running[job]}
        return Counter(self.cluster.machine_of[gpu] for gpu in state.placement(job))

    def sizes(self, job: Job) -> list[int]:
        """Return how many GPUs a job takes on each machine, largest first; empty if no machine is eligible."""
        largest = max((self.cluster.machines[each].gpus for each in self.eligible(job)), default=0)
        if not largest:
            return []
        whole, rest = divmod(job.gpus, largest)
        return [largest] * whole + [rest] * (rest > 0)

    def eligible(self, job: Job) -> list[int]:
        """Return the indices of the machines that have the job's GPU type and enough memory."""
        return [
            number
            for number, machine in enumerate(self.cluster.machines)
            if job.gpu_type in {"", machine.gpu_type}
            and (machine.memory is None or machine.memory >= (job.memory or 0))
        ]

    def fit(self, job: Job, without: Iterable[int] = ()) -> Standing | None:
        """Return where a job fits if the running jobs in `without` stop, or None if it does not fit.

        If it fits into several groups of the level `within`, the one with the fewest free GPUs is used. Within
        a group, each part of the job goes to the machine with the fewest free GPUs that suffice.
        """
        room = [len(gpus) for gpus in self.free]
        for other in without:
            for machine, number in self.on[other].items():
                room[machine] += number
        able, sizes = set(self.eligible(job)), self.sizes(job)
        groups = self.cluster.groups[self.within or self.cluster.levels[-1]]
        found = []
        for group in groups if sizes else ():
            members = [machine for machine in group.machines if machine in able]
            total = sum(room[machine] for machine in members)
            if total >= job.gpus and (standing := _packed(sizes, members, room)) is not None:
                found.append((total, standing))
        return min(found, key=lambda each: each[0], default=(0, None))[1]

    def leave(self, job: int, gpus: Iterable[int]) -> None:
        """Free the GPUs of a running job that stops."""
        for machine, number in self.on.pop(job).items():
            if self._plain:
                self.free[machine] += range(number)
        for gpu in gpus:
            self.free[self.cluster.machine_of[gpu]].append(gpu)

    def enter(self, standing: Standing) -> tuple[int, ...] | None:
        """Take free GPUs on the given machines, and return the GPUs' indices, or None in a plain cluster."""
        taken: list[int] = []
        for machine, number in standing.items():
            self.free[machine].sort()
            taken += self.free[machine][:number]
            del self.free[machine][:number]
        return None if self._plain else tuple(sorted(taken))


def _packed(sizes: Iterable[int], members: Iterable[int], room: list[int]) -> Standing | None:
    """Return how a job fits on the machines with the fewest free GPUs, or None if it does not fit."""
    order = sorted(members, key=lambda machine: (room[machine], machine))
    standing: Counter[int] = Counter()
    for size in sizes:
        machine = next((each for each in order if room[each] - standing[each] >= size), None)
        if machine is None:
            return None
        standing[machine] += size
    return dict(standing)
