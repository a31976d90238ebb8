"""KAI: the preempt action of KAI-Scheduler, which makes room for more and more of a job's workers."""

from collections.abc import Sequence

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import NoSolution, heuristic
from gsopt.problems.admission import Admission, AdmissionSolution, Running
from heuristics.admission.admitting import Stops, admit, least_important_first, same_queue
from heuristics.admission.room import Room, Seats
from heuristics.admission.scenarios import Solver


@heuristic
def kai(
    problem: Admission, *, node_local: bool = True, budget: Budget = UNLIMITED
) -> AdmissionSolution | NoSolution:
    """Stop gangs as KAI's scenario solver does, and place them again where they still fit.

    For 1, 2, 4, ... workers of the pending gang, and then by bisection, the search looks for victims that make
    room for these workers. Victims that were found for fewer workers always stop; if the workers could then
    fit, a scenario without further victims is tried first. Candidates, which are evictable gangs of lower
    priority in the same queue, are gathered in ascending order of priority, with ties going to the gang that
    started last, until the workers could fit if all candidates gathered so far stopped. Then, and after each
    further candidate, scenarios of one of two kinds are tried:

    - With `node_local`, there is a scenario for each machine of the last candidate: the gathered gangs that
      have workers on this machine.
    - Without `node_local`, or if the search with the first kind finds no room for all workers, the whole search
      is done with the second kind. The machines of the gathered gangs are sorted in ascending order of the GPUs
      that would be free on them if all these gangs stopped; machines with too few of these GPUs for any worker
      are left out. The first scenario consists of the gathered gangs on the first k machines in this order,
      where k is the smallest number such that the GPUs that would be free on them and the free GPUs of machines
      without gathered gangs suffice. The following scenarios add the gangs on 1, then 2, 4, ... further
      machines.

    In a scenario, all its gangs stop. Then the pending workers are placed on the fullest machines. After
    them, the stopped gangs are placed in descending order of priority, with ties going to the gang that
    started first. Gangs that return to their own machines keep running. Others that fit are moved if they
    have a `move_cost`. All remaining gangs are evicted.

    Parameters
    ----------
    problem
        The problem.
    node_local
        Whether to try the first kind of scenario (plugin ``nodelocalgreedy``).
    budget
        Time limit.

    Notes
    -----
    Source: KAI-Scheduler v0.17.0 (commit d5bc503a), ``pkg/scheduler/actions/preempt/preempt.go``,
    ``pkg/scheduler/actions/common/solvers`` (``job_solver.go``, ``pod_scenario_builder.go``,
    ``sub_scenario_emitter.go``, ``by_pod_solver.go``) and ``pkg/scheduler/plugins/nodelocalgreedy``, with the
    plugins ``priority``, ``nodeplacement`` (packing) and ``topology``. The original program may restart any
    victim elsewhere; here, gangs without a `move_cost` are evicted unless their own machines still have room.

    Left out: queue quotas, elastic jobs, delays before preemption, shared GPUs, time budgets, and all node
    scores except packing. Gangs move only to machines that had free GPUs or on which a gang stopped. The two
    filters of scenarios in the original program are replaced by a count of the workers that fit.

    Complexity: O(S V M log W) for W workers, S scenarios, and V victims on M machines.

    Examples
    --------
    >>> from gsopt.problems.admission import Gang, Part
    >>> from gsopt.problems.placement import Resources
    >>> from gsopt.scenario.cluster import Cluster
    >>> def part(gpus): return [Part(needs=Resources(gpu=gpus))]
    >>> running = [
    ...     Running(name=name, parts=part(2), on=[{"machine 0.0": 1}], started=number)
    ...     for number, name in enumerate(["a", "b"])
    ... ]
    >>> pending = [Gang(name="new", parts=part(2), priority=1)]
    >>> cluster = Cluster.uniform(machines=1, gpus=4)
    >>> kai(Admission(cluster=cluster, running=running, pending=pending)).solution.evicted
    ('b',)
    """

    def rule(room: Room, seats: Seats, candidates: Sequence[Running], budget: Budget) -> Stops | None:
        order = sorted(same_queue(candidates, seats.gang), key=least_important_first)
        return Solver(room, seats.gang, order, budget).solve(node_local=node_local)

    return admit(problem, rule, budget)
