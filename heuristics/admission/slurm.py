"""Slurm: preemption of lower-priority jobs one by one, reordered after each successful attempt."""

from collections.abc import Sequence

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import require
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.admission import Admission, AdmissionSolution, Places, Running
from heuristics.admission.admitting import Stops, admit, check_time, started
from heuristics.admission.room import Room, Seats


@heuristic
def slurm(
    problem: Admission,
    *,
    youngest_first: bool = False,
    strict_order: bool = False,
    reorder_count: int = 1,
    budget: Budget = UNLIMITED,
) -> AdmissionSolution | NoSolution:
    """Stop gangs by priority and number of machines until the pending gang fits; evict those in its way.

    Evictable gangs of lower priority stop tentatively until the pending gang fits, in ascending order of
    priority; among equals, fewest machines first. Then the search restarts up to ``reorder_count + 1`` times
    with a new order. The gang that stopped last comes first, followed by the other stopped gangs in descending
    order of how many machines they share with the pending gang's places.

    The pending gang gets the places that the last attempt found. Gangs that this attempt stopped and that run
    on these machines are evicted, whether or not this is necessary. All other gangs keep running.

    Parameters
    ----------
    problem
        The problem.
    youngest_first
        Whether gangs that started later stop first, regardless of priority
        (``PreemptParameters=youngest_first``).
    strict_order
        Whether only the gang that stopped last moves to the front (``PreemptParameters=strict_order``).
    reorder_count
        Maximum number of new orders, less 1 as in Slurm (``PreemptParameters=reorder_count``).
    budget
        Time limit. When it is reached, the places from the last complete attempt are used.

    Raises
    ------
    InvalidInput
        `reorder_count` is below 0.

    Notes
    -----
    Source: Slurm 26.05 (commit 284c3b95), ``src/interfaces/preempt.c`` (order), ``src/plugins/preempt/qos`` and
    ``partition_prio`` (key: priority of the QOS or partition, then number of nodes), and
    ``src/plugins/select/cons_tres/job_test.c`` (``_run_now``), with ``PreemptMode=CANCEL`` or ``REQUEUE``. A
    gang's priority stands for that of its QOS or partition. Slurm's sort is not stable; here, ties keep their
    order. Slurm has its own choice of nodes; here, the gang is placed in the group with the least room to
    spare.

    Left out: suspended jobs, licenses, reservations, heterogeneous jobs, exempt times and grace times.

    Complexity: O(C (R log R + M + P)) for ``C = reorder_count + 2`` attempts, R running gangs on M machines in
    total, and P machines of the pending gang, if pending gangs have one part.

    Examples
    --------
    >>> from gsopt.problems.admission import Gang, Part
    >>> from gsopt.problems.placement import Resources
    >>> from gsopt.scenario.cluster import Cluster
    >>> def part(gpus): return [Part(needs=Resources(gpu=gpus))]
    >>> running = [
    ...     Running(name="small", parts=part(2), on=[{"machine 0.0": 1}]),
    ...     Running(name="large", parts=part(8), on=[{"machine 0.1": 1}], priority=1),
    ... ]
    >>> pending = [Gang(name="new", parts=part(8), priority=2)]
    >>> cluster = Cluster.uniform(machines=2, gpus=8)
    >>> slurm(Admission(cluster=cluster, running=running, pending=pending)).solution.evicted
    ('small',)
    """
    require(reorder_count >= 0, "reorder_count", reorder_count, "must be at least 0")

    def rule(room: Room, seats: Seats, candidates: Sequence[Running], budget: Budget) -> Stops | None:
        def key(gang: Running) -> tuple[float, ...]:
            if youngest_first:
                return (-started(gang),)
            return gang.priority, len(room.machines(gang))

        order = sorted(candidates, key=key)
        found = _attempt(room, seats, order, budget)
        if found is None:
            check_time(budget)
            return None
        for attempt in range(1, reorder_count + 2):
            if len(order) <= attempt or budget.passed:
                break
            order = _reordered(room, order, *found, strict=strict_order)
            found = _attempt(room, seats, order, budget) or found
        stopped, places = found
        chosen = _machines(room, places)
        for gang in stopped:
            if not chosen.isdisjoint(room.machines(gang)):
                room.stop(gang)
        return Stops(places)

    return admit(problem, rule, budget)


def _attempt(
    room: Room, seats: Seats, order: Sequence[Running], budget: Budget
) -> tuple[list[Running], Places] | None:
    """Return the gangs that stop in the given order, and the pending gang's places; then resume all gangs."""
    stopped: list[Running] = []
    places = None
    for gang in order:
        if budget.passed:
            break
        room.stop(gang)
        stopped.append(gang)
        if seats.fits() and (places := seats.place()) is not None:
            break
    for gang in stopped:
        room.resume(gang)
    return None if places is None else (stopped, places)


def _reordered(
    room: Room, order: Sequence[Running], stopped: Sequence[Running], places: Places, *, strict: bool
) -> list[Running]:
    last = stopped[-1]
    if strict:
        return [last, *(gang for gang in order if gang is not last)]
    chosen = _machines(room, places)
    shared = {gang.name: len(chosen.intersection(room.machines(gang))) for gang in stopped[:-1]}
    others = [gang for gang in order if gang is not last]
    return [last, *sorted(others, key=lambda gang: -shared.get(gang.name, 0))]


def _machines(room: Room, places: Places) -> set[int]:
    """Return the positions of the machines that are among the given places."""
    position = room.problem.position
    return {position[name] for machines in places for name in machines}
