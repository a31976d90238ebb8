"""Workload-aware preemption: all evictable gangs of lower priority stop, then each resumes if room allows."""

from collections.abc import Sequence
from typing import Literal, get_args

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import require_one_of
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.admission import Admission, AdmissionSolution, Gang, Running
from heuristics.admission.admitting import Stops, admit, check_time, place, started
from heuristics.admission.room import Room, Seats

#: Whether the pending gang is placed again after each gang that resumes, or only once.
Placing = Literal["again", "once"]


@heuristic
def workload_aware(
    problem: Admission, *, placing: Placing = "again", budget: Budget = UNLIMITED
) -> AdmissionSolution | NoSolution:
    """Stop all evictable gangs of lower priority, then resume those that leave enough room, by importance.

    A gang is more important if its priority is higher; then if it has more workers; then if it started earlier.
    Ties keep the order of the problem.

    Parameters
    ----------
    problem
        The problem.
    placing
        ``"again"``: as in Kubernetes, the pending gang gets new places after each gang that resumes.
        ``"once"``: as in KEP-5710, it keeps the places that it got before any gang resumed.
    budget
        Time limit. When it is reached, no further gang resumes.

    Raises
    ------
    InvalidInput
        `placing` has an unknown value.

    Notes
    -----
    Source: Kubernetes v1.36.3, ``pkg/scheduler/framework/preemption/podgrouppreemption.go``
    (``selectVictimsOnDomain``, ``moreImportantVictim``), feature ``WorkloadAwarePreemption``, for pod groups
    with ``DisruptionMode: PodGroup``; and KEP-5710, section "Preemption algorithm" (commit 64765b4b of
    kubernetes/enhancements). A gang with one worker is treated as a single pod.

    Left out: disruption budgets, and all scheduling constraints except resources, types and levels. In place of
    scores, the pending gang gets the group at its level with the least room to spare.

    Complexity: O(R log R + M) for R running gangs on M machines in total, if pending gangs have one part.

    Examples
    --------
    >>> from gsopt.problems.admission import Gang, Part
    >>> from gsopt.problems.placement import Resources
    >>> from gsopt.scenario.cluster import Cluster
    >>> part = Part(needs=Resources(gpu=1))
    >>> running = [
    ...     Running(name="pair", parts=[part.model_copy(update={"count": 2})], on=[{"machine 0.0": 2}]),
    ...     Running(name="single", parts=[part], on=[{"machine 0.0": 1}]),
    ... ]
    >>> pending = [Gang(name="new", parts=[part], priority=1)]
    >>> cluster = Cluster.uniform(machines=1, gpus=3)
    >>> workload_aware(Admission(cluster=cluster, running=running, pending=pending)).solution.evicted
    ('single',)
    """
    require_one_of("placing", placing, get_args(Placing))

    def rule(room: Room, seats: Seats, candidates: Sequence[Running], budget: Budget) -> Stops | None:
        for gang in candidates:
            check_time(budget)
            room.stop(gang)
        fixed = place(seats)
        if fixed is None:
            return None
        if placing == "once":
            room.take(seats.gang, fixed.places)
        for gang in sorted(candidates, key=_importance):
            if budget.passed:
                break
            if placing == "once" and not room.holds(gang):
                continue
            room.resume(gang)
            if placing == "again" and not seats.fits():
                room.stop(gang)
        if placing == "again":
            return place(seats)
        room.give_back(seats.gang, fixed.places)
        return fixed

    return admit(problem, rule, budget)


def _importance(gang: Running) -> tuple[int, bool, int, float]:
    workers = _workers(gang)
    return -gang.priority, workers == 1, -workers, started(gang)


def _workers(gang: Gang) -> int:
    return sum(part.count for part in gang.parts)
