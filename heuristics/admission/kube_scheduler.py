"""Kube-scheduler: the default preemption of Kubernetes, where each worker looks for a machine on its own."""

from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.admission import Admission, AdmissionSolution, Part, Running
from gsopt.problems.placement import Vector
from heuristics.admission.admitting import Stops, admit, check_time, started
from heuristics.admission.room import Room, Seats

#: Offset of priorities before they are added up, so that adding a pod with a negative priority increases the
#: sum.
_OFFSET = 1 << 31

#: How unattractive a machine is: whether any worker has to stop there, and then the criteria in order.
_Score = tuple[bool, tuple[float, ...]]


@heuristic
def kube_scheduler(problem: Admission, *, budget: Budget = UNLIMITED) -> AdmissionSolution | NoSolution:
    """Place workers one by one, and make room for each on the machine whose victims matter least.

    A gang that fits without preemption is placed as a whole, in the group at its level with the least room to
    spare. Workers of other gangs are placed one by one, each on the machine with the most free resources on
    which it fits.

    If a worker fits nowhere, each machine is examined. All workers of evictable gangs of lower priority leave
    it. Then each of them returns if the pending worker still fits, in descending order of priority; among
    equals, earliest start first. Those that do not return are the victims. The pending worker goes to the
    machine with the lowest maximum priority of victims; among equals, with the lowest sum of their priorities,
    each plus 2^31; then with the fewest victims; then to the one on which the earliest start of a victim with
    the maximum priority is latest. The victims' gangs stop as a whole.

    All workers of a gang go to the same group at its level. The first worker chooses this group, among those
    that could hold each part if all evictable gangs of lower priority stopped. Likewise, the first worker of
    each slice chooses the slice's group.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit.

    Notes
    -----
    Source: Kubernetes v1.36.3, ``pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go``
    (``SelectVictimsOnNode``) and ``pkg/scheduler/framework/preemption/preemption.go``
    (``pickOneNodeForPreemption``). This code does not know gangs or levels; that of `workload_aware` does.
    Kubernetes stops looking once it has enough candidates; here, all machines are examined.

    Left out: disruption budgets, all scheduling constraints except resources and types, and all scores except
    free resources.

    Complexity: O(M + W log M + V) for W pending workers and M machines, if pending gangs have one part and no
    slices. V is the number of running workers of lower priority, each counted again whenever its machine
    changes.

    Examples
    --------
    >>> from gsopt.problems.admission import Gang, Part
    >>> from gsopt.problems.placement import Resources
    >>> from gsopt.scenario.cluster import Cluster
    >>> def part(gpus): return [Part(needs=Resources(gpu=gpus))]
    >>> running = [
    ...     Running(name="a", parts=part(8), on=[{"machine 0.0": 1}], priority=1),
    ...     Running(name="b", parts=part(4), on=[{"machine 0.1": 1}]),
    ...     Running(name="c", parts=part(4), on=[{"machine 0.1": 1}]),
    ... ]
    >>> pending = [Gang(name="new", parts=part(8), priority=2)]
    >>> cluster = Cluster.uniform(machines=2, gpus=8)
    >>> kube_scheduler(Admission(cluster=cluster, running=running, pending=pending)).solution.evicted
    ('b', 'c')
    """

    def rule(room: Room, seats: Seats, candidates: Sequence[Running], budget: Budget) -> Stops | None:
        groups = problem.groups(seats.gang)
        pods = _Pods(room, candidates)
        open_groups = _hopeful(room, seats, candidates)
        chosen: list[dict[str, int]] = []
        for part in seats.gang.parts:
            pods.ask(part)
            chosen.append({})
            for size in [part.slice] * part.slices or [part.count]:
                members = [machine for group in open_groups for machine in groups[group].machines]
                domain = _Domain(pods, _with_slices(problem, pods, part, members) if part.slice else members)
                for worker in range(size):
                    check_time(budget)
                    machine = domain.best()
                    if machine is None:
                        return None
                    domain.changed(pods.occupy(machine))
                    name = problem.cluster.machines[machine].name
                    chosen[-1][name] = chosen[-1].get(name, 0) + 1
                    if worker == 0 and (part.slice or len(open_groups) > 1):
                        group = seats.group(machine)
                        open_groups = {group}
                        domain = _Domain(pods, _together(problem, part, groups[group].machines, machine))
        places = tuple(chosen)
        room.give_back(seats.gang, places)
        return Stops(places)

    return admit(problem, rule, budget)


def _hopeful(room: Room, seats: Seats, candidates: Iterable[Running]) -> set[int]:
    """Return the indices of the groups that would hold all workers if all candidates stopped."""
    stopped = list(candidates)
    for gang in stopped:
        room.stop(gang)
    found = set(seats.able)
    for gang in stopped:
        room.resume(gang)
    return found


def _with_slices(problem: Admission, pods: "_Pods", part: Part, members: Sequence[int]) -> list[int]:
    """Return the machines in groups that would hold another slice if all candidates stopped."""
    slice_of = problem.cluster.group_of(part.slice_within)
    most = Counter[int]()
    for machine in members:
        most[slice_of[machine]] += pods.most(machine)
    return [machine for machine in members if most[slice_of[machine]] >= part.slice]


def _together(problem: Admission, part: Part, members: Iterable[int], first: int) -> list[int]:
    """Return the machines for the part's other workers or, with slices, for the rest of the current slice."""
    if not part.slice:
        return list(members)
    slice_of = problem.cluster.group_of(part.slice_within)
    return [machine for machine in members if slice_of[machine] == slice_of[first]]


class _Domain:
    """The machines on which a worker may be placed, in a queue with the most attractive one first."""

    def __init__(self, pods: "_Pods", members: Iterable[int]) -> None:
        self._pods, self._members = pods, set(members)
        scores = ((pods.score(machine), machine) for machine in self._members)
        self._heap = [(score, machine) for score, machine in scores if score is not None]
        heapify(self._heap)

    def best(self) -> int | None:
        """Return the most attractive machine, or None if the worker fits nowhere."""
        while self._heap:
            score, machine = self._heap[0]
            if self._pods.score(machine) == score:
                return machine
            heappop(self._heap)
        return None

    def changed(self, machines: Iterable[int]) -> None:
        """Update the scores of the given machines."""
        for machine in self._members.intersection(machines):
            score = self._pods.score(machine)
            if score is not None:
                heappush(self._heap, (score, machine))


class _Pods:
    """The candidates' workers on each machine, and which of them must stop for one more pending worker."""

    def __init__(self, room: Room, candidates: Iterable[Running]) -> None:
        self._room = room
        self._on: dict[int, list[tuple[Running, Vector]]] = {}
        for gang in sorted(candidates, key=lambda gang: (-gang.priority, started(gang))):
            for part, machines in zip(gang.parts, gang.on, strict=True):
                amounts = part.needs.vector(room.problem.resources)
                for name, number in machines.items():
                    pods = self._on.setdefault(room.problem.position[name], [])
                    pods += [(gang, amounts)] * number

    def ask(self, part: Part) -> None:
        """Set the part whose workers are to be placed from now on."""
        self._need = part.needs.vector(self._room.problem.resources)
        self._eligible = self._room.problem.eligible(part)
        self._scores: dict[int, _Score | None] = {}

    def score(self, machine: int) -> _Score | None:
        """Return the score of a machine (lower is better), or None if the worker does not fit there."""
        if machine not in self._scores:
            self._scores[machine] = self._judge(machine) if machine in self._eligible else None
        return self._scores[machine]

    def most(self, machine: int) -> int:
        """Return how many workers would fit on a machine if all candidates stopped."""
        if machine not in self._eligible:
            return 0
        left = self._without(machine)
        return max(0, min(has // amount for has, amount in zip(left, self._need, strict=True) if amount))

    def occupy(self, machine: int) -> set[int]:
        """Place a worker on a machine, stop its victims' gangs, and return all machines that changed."""
        changed = {machine}
        for gang in {gang.name: gang for gang in self._victims(machine)}.values():
            changed.update(self._room.machines(gang))
            self._room.stop(gang)
        self._room.occupy(machine, self._need)
        for each in changed:
            self._scores.pop(each, None)
        return changed

    def _judge(self, machine: int) -> _Score | None:
        free = self._room.free[machine]
        if self._fits(free):
            return False, tuple(-amount for amount in free)
        if not self._fits(self._without(machine)):
            return None
        victims = self._victims(machine)
        highest = max(gang.priority for gang in victims)
        latest = min(started(gang) for gang in victims if gang.priority == highest)
        total = sum(gang.priority + _OFFSET for gang in victims)
        return True, (highest, total, len(victims), -latest)

    def _victims(self, machine: int) -> list[Running]:
        """Return the gangs of the workers that would leave a machine, one entry per worker."""
        left = self._without(machine)
        victims = []
        for gang, amounts in self._here(machine):
            kept = [has - amount for has, amount in zip(left, amounts, strict=True)]
            if self._fits(kept):
                left = kept
            else:
                victims.append(gang)
        return victims

    def _here(self, machine: int) -> list[tuple[Running, Vector]]:
        return [pod for pod in self._on.get(machine, ()) if pod[0].name not in self._room.stopped]

    def _without(self, machine: int) -> list[int]:
        left = list(self._room.free[machine])
        for _, amounts in self._here(machine):
            left = [has + amount for has, amount in zip(left, amounts, strict=True)]
        return left

    def _fits(self, free: Sequence[int]) -> bool:
        return all(has >= amount for has, amount in zip(free, self._need, strict=True))
