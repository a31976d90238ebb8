"""Volcano preempt: each task of the pending job makes room for itself on the first machine that allows it."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.admission import Admission, AdmissionSolution, Part, Running
from heuristics.admission.admitting import Stops, admit, check_time, least_important_first, same_queue
from heuristics.admission.room import Room, Seats


@heuristic
def volcano_preempt(problem: Admission, *, budget: Budget = UNLIMITED) -> AdmissionSolution | NoSolution:
    """Place each worker on the fullest machine where stopping lower-priority gangs makes enough room.

    Machines are tried in ascending order of free resources; ties go to the first one. On each, evictable gangs
    of lower priority in the same queue are stopped one by one until the pending worker fits: lowest priority
    first and, among equals, latest start first. A gang stops as a whole. If the worker does not fit in the end,
    these gangs resume, and the next machine is tried.

    A pending gang that fits without preemption is placed in the group at its level with the least room to
    spare. Gangs with slices, or with a level narrower than the cluster, are admitted only in this way.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit.

    Notes
    -----
    Source: Volcano v1.16.0-alpha.1 (commit ed72c7c8), ``pkg/scheduler/actions/preempt/preempt.go``
    (``normalPreempt``) and ``pkg/scheduler/framework/session_plugins.go`` (``BuildVictimsPriorityQueue``), with
    the plugins ``priority``, ``gang`` (``enablePreemptable: false``, the default) and, for the order of
    machines, ``binpack``.

    Left out: preemption within a job, capacities of queues, ``enableTopologyAwarePreemption``, node scores, and
    all scheduling constraints except resources and types.

    Complexity: O(W (M + V)) for W workers, M machines, and V workers with a lower priority.

    Examples
    --------
    >>> from gsopt.problems.admission import Gang, Part
    >>> from gsopt.problems.placement import Resources
    >>> from gsopt.scenario.cluster import Cluster
    >>> def part(gpus): return [Part(needs=Resources(gpu=gpus))]
    >>> running = [
    ...     Running(name="a", parts=part(8), on=[{"machine 0.0": 1}], priority=1),
    ...     Running(name="b", parts=part(4), on=[{"machine 0.1": 1}]),
    ... ]
    >>> pending = [Gang(name="new", parts=part(8), priority=2)]
    >>> cluster = Cluster.uniform(machines=2, gpus=8)
    >>> volcano_preempt(Admission(cluster=cluster, running=running, pending=pending)).solution.evicted
    ('a',)
    """

    def rule(room: Room, seats: Seats, candidates: Sequence[Running], budget: Budget) -> Stops | None:
        gang = seats.gang
        if gang.within not in {"", problem.cluster.levels[-1]} or any(part.slice for part in gang.parts):
            return None
        here: dict[int, list[Running]] = {}
        for victim in sorted(same_queue(candidates, gang), key=least_important_first):
            for machine in room.machines(victim):
                here.setdefault(machine, []).append(victim)
        chosen: list[dict[str, int]] = []
        for part in gang.parts:
            chosen.append({})
            order = _Order(room, problem.eligible(part))
            for _ in range(part.count):
                check_time(budget)
                found = _preempt(room, part, order, here)
                if found is None:
                    return None
                name = problem.cluster.machines[found].name
                chosen[-1][name] = chosen[-1].get(name, 0) + 1
        places = tuple(chosen)
        room.give_back(gang, places)
        return Stops(places)

    return admit(problem, rule, budget)


def _preempt(room: Room, part: Part, order: "_Order", here: dict[int, list[Running]]) -> int | None:
    """Stop gangs on the first machine where the worker then fits, and place it there; return the machine."""
    need = part.needs.vector(room.problem.resources)
    for _, machine in order.machines:
        victims = [gang for gang in here.get(machine, ()) if gang.name not in room.stopped]
        stopped: list[Running] = []
        while not all(has >= amount for has, amount in zip(room.free[machine], need, strict=True)):
            if not victims:
                break
            stopped.append(victims.pop(0))
            room.stop(stopped[-1])
        else:
            room.occupy(machine, need)
            order.update({machine, *(each for gang in stopped for each in room.machines(gang))})
            return machine
        for gang in stopped:
            room.resume(gang)
    return None


class _Order:
    """Machines in ascending order of free resources."""

    def __init__(self, room: Room, machines: Iterable[int]) -> None:
        self._room = room
        self._free = {machine: room.free[machine].copy() for machine in machines}
        self.machines = sorted((free, machine) for machine, free in self._free.items())

    def update(self, changed: Iterable[int]) -> None:
        """Update the free resources of the given machines."""
        for machine in self._free.keys() & set(changed):
            del self.machines[bisect_left(self.machines, (self._free[machine], machine))]
            self._free[machine] = self._room.free[machine].copy()
            insort(self.machines, (self._free[machine], machine))
