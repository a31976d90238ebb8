"""Racks: the exact method for minimizing the number of racks in use."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from formulations.placement.answer import without_model
from formulations.placement.milp import milp
from formulations.placement.packing import Packing
from formulations.placement.start import construct
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method, no_worse, tightened
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.placement import Placement, PlacementSolution


@exact_method()
def racks(problem: Placement, budget: Budget) -> Result[PlacementSolution]:
    """Fill the racks with the most room first, and prove the optimum by counting resources.

    Workers are placed by best fit or first fit on the racks in use and on as few other racks as possible, those
    with the most room first. Racks that turn out to be unnecessary are dropped. The bound counts each resource:
    what does not fit on the racks in use needs more racks, at best those with the largest free amount of this
    resource. If the placement does not attain the bound, the assignment model (`milp`) is solved. If that model
    is too large, a gap remains.

    Size
    ----
    One placement for every bisection step over the number of racks and for every rack that may be dropped, and
    then `milp`.

    Source
    ------
    gsopt's own. The objective is consolidated placement as in Dally, section IV, but for many jobs at once.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit, gap, start, and the backend of the assignment model.

    Raises
    ------
    Unsupported
        The objective is not the number of racks, or workers need parts of GPUs or GPUs of certain types.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.problems.placement import Resources, Workers
    >>> lines = [Workers(job="a", count=3, demand=Resources(gpu=4))]
    >>> problem = Placement.on_cluster(Cluster.uniform(racks=4, machines=2, gpus=4), lines)
    >>> result = racks(problem)
    >>> result.objective, result.bound
    (2, 2)
    """
    if problem.minimize != "racks":
        raise Unsupported(f"racks: it minimizes racks, not {problem.minimize}")
    if problem.beyond_amounts:
        raise Unsupported(f"racks: {problem.beyond_amounts}; use milp")
    known = without_model(problem, "racks", budget)
    if known is not None:
        return known
    bound = _count(problem)
    best = None if bound is None else _better(problem, budget, bound)
    result = Result.judged(
        problem,
        method="racks",
        solution=best,
        bound=bound,
        infeasible=bound is None,
        stopped_by=StoppedBy.TIME_LIMIT if budget.passed else StoppedBy.FINISHED,
        message="resources counted",
        runtime=budget.runtime,
    )
    budget.report(value=result.objective, bound=result.bound)
    closed = result.status is Status.INFEASIBLE or (result.gap is not None and result.gap <= budget.gap)
    if bound is None or closed or budget.passed:
        return result
    try:
        found = milp(problem, budget=replace(budget, start=None))
    except Unsupported as reason:
        return replace(result, message=f"resources counted; {reason}")
    return replace(tightened(no_worse(found, problem, best), problem, bound), method="racks")


def _count(problem: Placement) -> int | None:
    """Return a lower bound on the number of racks, or None if some resource does not suffice."""
    free = _free_by_rack(problem)
    touched = _touched(problem)
    needs = np.array(problem.demands, dtype=object).T @ [line.count for line in problem.workers]
    most = 0
    for resource, need in enumerate(needs):
        rest = need - sum(free[rack][resource] for rack in touched)
        rooms = sorted((room[resource] for rack, room in free.items() if rack not in touched), reverse=True)
        racks = 0
        while rest > 0 and racks < len(rooms):
            rest -= rooms[racks]
            racks += 1
        if rest > 0:
            return None
        most = max(most, racks)
    return len(touched) + most


def _better(problem: Placement, budget: Budget, bound: int) -> PlacementSolution | None:
    """Return the better of the start and a constructed placement, or None if there is neither."""
    own = _fill_roomiest(problem, budget, bound)
    known = [each for each in (budget.start, own) if each is not None]
    return min(known, key=problem.objective, default=None)


def _fill_roomiest(problem: Placement, budget: Budget, bound: int) -> PlacementSolution | None:
    """Place workers on as few of the racks with the most room as possible, then drop unnecessary racks."""
    order = _roomiest_first(problem)
    best = _place(problem, order, budget)
    low, high = bound, len(order)
    while best is not None and low < high and not budget.passed:
        middle = (low + high) // 2
        found = _place(problem, order[:middle], budget)
        if found is None:
            low = middle + 1
        else:
            best, high = found, middle
    if best is not None:
        for found in _with_fewer(problem, best, budget):
            best = found
    return best


def _with_fewer(problem: Placement, solution: PlacementSolution, budget: Budget) -> Iterator[PlacementSolution]:
    """Yield placements that each use one rack fewer; racks with the least room are dropped first."""
    needed = _touched(problem)
    in_use = list(problem.racks_touched(solution))
    for rack in reversed([each for each in _roomiest_first(problem) if each in in_use]):
        if budget.passed:
            return
        if rack not in needed:
            found = _place(problem, [each for each in in_use if each != rack], budget)
            if found is not None:
                in_use.remove(rack)
                yield found


def _place(problem: Placement, racks: Collection[str], budget: Budget) -> PlacementSolution | None:
    """Place workers by best fit on the servers of the given racks only; return None if this fails."""
    allowed = set(racks)
    servers = tuple(server for server in problem.servers if server.rack in allowed)
    if not servers:
        return None
    part = Placement(
        servers=servers, workers=problem.workers, split_jobs=problem.split_jobs, minimize="servers"
    )
    packing = Packing.of(part)
    filled = None if part.misfit else construct(packing, replace(budget, start=None))
    return None if filled is None else packing.solution(filled.values, filled.patterns)


def _roomiest_first(problem: Placement) -> Sequence[str]:
    """Order the racks: those in use first, then in descending order of their share of free resources."""
    free, touched = _free_by_rack(problem), _touched(problem)
    totals = [max(sum(amounts), 1) for amounts in zip(*free.values(), strict=True)]
    needed = [any(demand[resource] for demand in problem.demands) for resource in range(len(totals))]

    def room(rack: str) -> float:
        shares = zip(free[rack], totals, needed, strict=True)
        return min((amount / total for amount, total, counts in shares if counts), default=0.0)

    return sorted(free, key=lambda rack: (rack not in touched, -room(rack)))


def _free_by_rack(problem: Placement) -> dict[str, list[int]]:
    """Return the free amount of each resource in each rack, keyed by the name of the rack."""
    free: dict[str, list[int]] = {}
    for server, room in zip(problem.servers, problem.rooms, strict=True):
        amounts = free.setdefault(server.rack, [0] * len(room))
        for resource, amount in enumerate(room):
            amounts[resource] += amount * server.count
    return free


def _touched(problem: Placement) -> set[str]:
    return {server.rack for server in problem.servers if server.in_use}
