"""Defragmenting: the gangs to move so that some nodes have enough free GPUs."""

from collections.abc import Collection

from gsopt.core.budget import TimeLimit, checked_time_limit
from gsopt.core.errors import InvalidInput, shorten
from gsopt.evaluation.solve import solve
from gsopt.problems.admission import Admission
from gsopt.problems.placement import Resources
from gsopt.snapshots.admitting import TIME_LIMIT, Admit, Request, admission_of
from gsopt.snapshots.gang import MOST_PRIORITY
from gsopt.snapshots.returning import Cost
from gsopt.snapshots.snapshot import Snapshot

#: A resource that each node has once.
_NODE = "node"


def defragment(
    snapshot: Snapshot,
    nodes: int,
    *,
    within: str = "",
    gpus: int | None = None,
    gpu_type: str = "",
    cost: str = Cost.JOBS,
    protect: Collection[str] = (),
    time_limit: TimeLimit = TIME_LIMIT,
) -> Admit:
    """Choose which running gangs to move, at minimum cost, so that some nodes have enough free GPUs.

    No gang is evicted. Gangs that must not be preempted, for example because of a disruption budget, do not
    move. Closed nodes are not among the freed ones, even if their GPUs are free. The result is an `Admit` whose
    admitted gang is imaginary, with one worker on each freed node.

    Parameters
    ----------
    snapshot
        The cluster.
    nodes
        Number of nodes to free.
    within
        Network level at which a single group, such as a rack, must hold all freed nodes; empty if they may be
        anywhere.
    gpus
        Number of GPUs that must be free on each of these nodes; None for that of the cluster's largest node.
    gpu_type
        Type of these GPUs; empty if any type will do.
    cost
        Cost of moving a gang, with the same choices as for evicting one in `admit`.
    protect
        Names of gangs that must not be moved.
    time_limit
        Time limit, in seconds or as a string such as ``30s``. When it is reached, the best solution found so
        far is returned with its proven bound.

    Raises
    ------
    InvalidInput
        A gang, level or cost does not exist, another argument is invalid, or no node has GPUs.

    Examples
    --------
    >>> from gsopt import snapshots
    >>> from gsopt.problems.placement import Resources
    >>> from gsopt.scenario.cluster import Cluster, Machine, Rack
    >>> eight, four = Resources(gpu=8), Resources(gpu=4)
    >>> nodes = [snapshots.Node(name=name, gpus=8, capacity=eight, used=four) for name in ("n1", "n2")]
    >>> gangs = [
    ...     snapshots.Gang(name=name, parts=[snapshots.Part(name=name, node=name, needs=four)])
    ...     for name in ("n1", "n2")
    ... ]
    >>> rack = Rack(name="rack", machines=[Machine(name=name, gpus=8) for name in ("n1", "n2")])
    >>> snapshot = Snapshot(nodes=nodes, gangs=gangs, network=Cluster(racks=[rack]))
    >>> len(defragment(snapshot, 1).moved), defragment(snapshot, 2).possible
    (1, False)
    """
    limit = checked_time_limit(time_limit)
    if isinstance(nodes, bool) or not isinstance(nodes, int) or nodes < 1:
        raise InvalidInput("nodes", shorten(nodes), "must be a number of at least 1")
    size = max(machine.gpus for machine in snapshot.cluster.machines) if gpus is None else gpus
    request = Request(f"{nodes}x{size}", within=within, gpu_type=gpu_type, priority=-MOST_PRIORITY)
    problem = admission_of(
        snapshot, request.pending(snapshot), cost=cost, move_cost=1.0, protect=protect, evict=False
    )
    if 2 * size <= max(machine.gpus for machine in snapshot.cluster.machines):
        problem = _one_worker_per_node(problem)
    return Admit(snapshot, request, cost, problem, solve(problem, time_limit=limit))


def _one_worker_per_node(problem: Admission) -> Admission:
    """Return the problem with a resource that each node has once and each worker of the new gang needs."""
    (gang,) = problem.pending
    parts = [
        part.model_copy(update={"needs": Resources(**part.needs.named | {_NODE: 1})}) for part in gang.parts
    ]
    nodes = {
        name: node.model_copy(update={"capacity": Resources(**node.capacity.named | {_NODE: 1})})
        for name, node in problem.nodes.items()
        if node.capacity is not None  # as for all nodes of a snapshot
    }
    return Admission(**dict(problem) | {"nodes": nodes, "pending": [gang.model_copy(update={"parts": parts})]})
