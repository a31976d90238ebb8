"""Volcano: gangpreempt, which tries domains in turn and stops whole jobs there until the pending gang fits."""

from collections.abc import Collection, Sequence
from functools import partial

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import require
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.admission import Admission, AdmissionSolution, Running
from heuristics.admission.admitting import Stops, admit, check_time, least_important_first, same_queue
from heuristics.admission.room import Room, Seats


@heuristic
def volcano(
    problem: Admission, *, max_domains: int | None = 8, budget: Budget = UNLIMITED
) -> AdmissionSolution | NoSolution:
    """Stop gangs in one domain, lowest priority and latest start first, until the pending gang fits there.

    The groups at the pending gang's level (domains) are tried in cluster order, except those with too few GPUs
    in total. The evictable gangs of lower priority in the same queue that have workers in the domain stop one
    by one until the pending gang fits. Ties go to the gang with the largest fraction of its GPUs in the domain,
    counting no more GPUs than the pending gang needs. If the pending gang does not fit in the end, the gangs
    that stopped there resume, and the next domain is tried. Otherwise, none of them resumes.

    Parameters
    ----------
    problem
        The problem.
    max_domains
        Maximum number of domains to try; None for all domains.
    budget
        Time limit.

    Raises
    ------
    InvalidInput
        `max_domains` is below 1.

    Notes
    -----
    Source: Volcano v1.16.0-alpha.1 (commit ed72c7c8), ``pkg/scheduler/actions/gangpreempt/gangpreempt.go``,
    ``pkg/scheduler/actions/utils/bundle.go`` (``SortBundlesForPreempt``) and
    ``pkg/scheduler/plugins/network-topology-aware``, with the plugins ``priority`` and ``gang``. In its default
    configuration, Volcano breaks the ties above by identifiers.

    Left out: ``maxHyperNodesForEviction``, the order of domains within a tier, all node scores, and resources
    other than GPUs, except when workers are placed.

    Complexity: O(D (R log R + M)) for D domains, and R running gangs on M machines in total, if pending gangs
    have one part.

    Examples
    --------
    >>> from gsopt.problems.admission import Gang, Part
    >>> from gsopt.problems.placement import Resources
    >>> from gsopt.scenario.cluster import Cluster
    >>> def part(gpus): return [Part(needs=Resources(gpu=gpus))]
    >>> running = [
    ...     Running(name="a", parts=part(8), on=[{"machine 0.0": 1}], priority=1),
    ...     Running(name="b", parts=part(8), on=[{"machine 1.0": 1}]),
    ... ]
    >>> pending = [Gang(name="new", parts=part(8), within="rack", priority=2)]
    >>> cluster = Cluster.uniform(racks=2, machines=1, gpus=8)
    >>> volcano(Admission(cluster=cluster, running=running, pending=pending)).solution.evicted
    ('a',)
    """
    require(max_domains is None or max_domains >= 1, "max_domains", max_domains, "must be at least 1, or None")
    gpu = problem.resources.index("gpu") if "gpu" in problem.resources else None

    def gpus(rooms: Sequence[Sequence[int]], machines: Sequence[int]) -> int:
        return 0 if gpu is None else sum(rooms[machine][gpu] for machine in machines)

    def rule(room: Room, seats: Seats, candidates: Sequence[Running], budget: Budget) -> Stops | None:
        groups = problem.groups(seats.gang)
        queue = same_queue(candidates, seats.gang)
        large = [
            number
            for number, group in enumerate(groups)
            if gpus(problem.rooms, group.machines) >= seats.gang.gpus
        ]
        for number in large[:max_domains]:
            machines = groups[number].machines
            free = gpus(room.free, machines)
            stopped: list[Running] = []
            for gang in sorted(queue, key=partial(_key, problem, machines, seats.gang.gpus)):
                check_time(budget)
                local = [machine for machine in room.machines(gang) if machine in machines]
                if not local:
                    continue
                free -= gpus(room.free, local)
                room.stop(gang)
                stopped.append(gang)
                free += gpus(room.free, local)
                if free >= seats.gang.gpus and number in seats.able:
                    places = seats.place(within=[number])
                    if places is not None:
                        return Stops(places)
            for gang in stopped:
                room.resume(gang)
        return None

    return admit(problem, rule, budget)


def _key(problem: Admission, machines: Collection[int], needed: int, gang: Running) -> tuple[float, ...]:
    """Return a sort key: priority, latest start, and largest fraction of the gang's GPUs on the machines."""
    local = sum(
        part.needs.gpu * number
        for part, places in zip(gang.parts, gang.on, strict=True)
        for name, number in places.items()
        if problem.position[name] in machines
    )
    return (*least_important_first(gang), -min(local, needed) / gang.gpus if gang.gpus else 0.0)
