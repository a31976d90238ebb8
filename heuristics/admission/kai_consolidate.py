"""KAI consolidation: KAI-Scheduler's consolidation, which moves a few jobs and evicts none."""

from collections.abc import Sequence

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.errors import require
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.admission import Admission, AdmissionSolution, Running
from heuristics.admission.admitting import Stops, admit, least_important_first
from heuristics.admission.room import Room, Seats
from heuristics.admission.scenarios import Solver


@heuristic
def kai_consolidate(
    problem: Admission,
    *,
    max_preemptees: int | None = 16,
    node_local: bool = True,
    budget: Budget = UNLIMITED,
) -> AdmissionSolution | NoSolution:
    """Move gangs as KAI's consolidation does, until the pending gang fits.

    The search is that of `heuristics.admission.kai`, but the candidates are the gangs with a `move_cost`, of
    any queue and priority. A scenario succeeds only if all its gangs are placed again. Gangs with at least the
    pending gang's priority are placed before it.

    Parameters
    ----------
    problem
        The problem.
    max_preemptees
        Limit on the number of candidates; None for no limit. As in KAI, a limit above 0 admits one candidate
        more.
    node_local
        See `heuristics.admission.kai`.
    budget
        Time limit.

    Raises
    ------
    InvalidInput
        `max_preemptees` is below 0.

    Notes
    -----
    Source: KAI-Scheduler v0.17.0 (commit d5bc503a), ``pkg/scheduler/actions/consolidation/consolidation.go``,
    with the solver of `heuristics.admission.kai` and the default ``max-consolidation-preemptees``. KAI limits
    the candidates in random order; here, they are sorted first.

    Left out: the order of queues by their shares, and what `heuristics.admission.kai` leaves out.

    Complexity: O(S V M log W) for W workers, S scenarios, and V victims on M machines.

    Examples
    --------
    >>> from gsopt.problems.admission import Gang, Part
    >>> from gsopt.problems.placement import Resources
    >>> from gsopt.scenario.cluster import Cluster
    >>> def part(gpus): return [Part(needs=Resources(gpu=gpus))]
    >>> running = [
    ...     Running(name=name, parts=part(1), on=[{machine: 1}], move_cost=0.5, started=number)
    ...     for number, (name, machine) in enumerate([("a", "machine 0.0"), ("b", "machine 0.1")])
    ... ]
    >>> pending = [Gang(name="new", parts=part(2))]
    >>> cluster = Cluster.uniform(machines=2, gpus=2)
    >>> kai_consolidate(Admission(cluster=cluster, running=running, pending=pending)).solution.moved
    {'b': ({'machine 0.0': 1},)}
    """
    require(
        max_preemptees is None or max_preemptees >= 0,
        "max_preemptees",
        max_preemptees,
        "must be at least 0, or None",
    )

    def rule(room: Room, seats: Seats, _: Sequence[Running], budget: Budget) -> Stops | None:
        movable = [
            gang for gang in problem.running if gang.move_cost is not None and gang.name not in room.stopped
        ]
        order = sorted(movable, key=least_important_first)
        if max_preemptees is not None:
            order = order[: max_preemptees + 1] if max_preemptees else []
        solver = Solver(room, seats.gang, order, budget, evicting=False)
        return solver.solve(node_local=node_local)

    return admit(problem, rule, budget)
