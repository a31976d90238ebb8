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

    The search makes room for 1, 2, 4, ... workers of the pending gang, and continues by bisection after a
    failure. The gangs that made room for fewer workers stop in each scenario for more workers, too.

    Candidates are the evictable gangs of lower priority in the same queue. They are gathered in ascending order
    of priority; among equals, latest start first. Once the workers could fit if all gathered gangs stopped,
    scenarios of one of two kinds are tried, and again after each further gang:

    - By machine: for each machine of the gang gathered last, all gathered gangs on this machine stop.
    - By GPUs: the machines of the gathered gangs are sorted by the GPUs that would be free if these gangs
      stopped, fewest first. Machines with too few for a worker are left out. In the first scenario, the
      gathered gangs on just enough of the first machines stop. Later scenarios add those on 1, then 2, 4, ...
      further machines.

    In each scenario, the pending workers are placed on the fullest machines. Then the stopped gangs are placed
    in descending order of priority; among equals, earliest start first. Gangs that return to their own machines
    keep running. Others that fit are moved if they have a `move_cost`. All remaining gangs are evicted.

    Parameters
    ----------
    problem
        The problem.
    node_local
        Whether to try scenarios by machine first (plugin ``nodelocalgreedy``). Scenarios by GPUs are tried if
        these fail, or if `node_local` is False.
    budget
        Time limit.

    Notes
    -----
    Source: KAI-Scheduler v0.17.0 (commit d5bc503a), ``pkg/scheduler/actions/preempt/preempt.go``,
    ``pkg/scheduler/actions/common/solvers`` (``job_solver.go``, ``pod_scenario_builder.go``,
    ``sub_scenario_emitter.go``, ``by_pod_solver.go``) and ``pkg/scheduler/plugins/nodelocalgreedy``, with the
    plugins ``priority``, ``nodeplacement`` (packing) and ``topology``. KAI may restart any victim elsewhere;
    here, only gangs with a `move_cost` move. KAI skips hopeless scenarios by two filters; here, a scenario is
    skipped if too few workers would fit.

    Left out: queue quotas, elastic jobs, delays before preemption, shared GPUs, time budgets, and all node
    scores except packing.

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
