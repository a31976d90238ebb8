"""Buckets: the exact method for workers that need nothing but GPUs."""

from bisect import bisect_left, insort
from collections import defaultdict
from dataclasses import replace

from formulations.placement.answer import without_model
from formulations.placement.column_generation import column_generation
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.result import Result, Status
from gsopt.problems.placement import Placed, Placement, PlacementSolution


@exact_method()
def buckets(problem: Placement, budget: Budget) -> Result[PlacementSolution]:
    """Place workers that only need GPUs by best-fit decreasing, and prove the optimum by counting GPUs.

    Servers in use with the same number of free GPUs share a bucket, so the best fit is in the non-empty bucket
    with the fewest free GPUs that suffice. If there is no such bucket, the largest empty server is opened. The
    bound counts GPUs: workers that do not fit on the servers in use need more servers, at best the largest
    ones. The placement attains the bound if all servers are empty and identical, and each worker size divides
    the next larger one and the number of GPUs per server. It usually does in other cases, too. If it does not,
    column generation takes over.

    Size
    ----
    No model, unless column generation takes over.

    Source
    ------
    Aryl, section 5.3; Coffman, Garey and Johnson, "Bin packing with divisible item sizes", Journal of
    Complexity 3 (1987).

    Parameters
    ----------
    problem
        The problem.
    budget
        Limits for column generation, if it is needed.

    Raises
    ------
    Unsupported
        Workers need parts of GPUs, certain GPU types, or resources other than GPUs; there are several pools and
        jobs must not be split between them; or the objective is not the number of servers.

    Examples
    --------
    >>> import gsopt
    >>> buckets(gsopt.load("placement/small/six-items")).objective
    2
    """
    reason = unsuited(problem)
    if reason:
        raise Unsupported(f"buckets: {reason}")
    known = without_model(problem, "buckets", budget)
    if known is not None:
        return known
    bound = _bound(problem)
    solution = None if bound is None else _best_fit_decreasing(problem)
    result = Result.judged(
        problem,
        method="buckets",
        solution=solution,
        bound=bound,
        infeasible=bound is None,
        message="there are not enough GPUs" if bound is None else "GPUs counted",
        runtime=budget.runtime,
    )
    if result.status in (Status.OPTIMAL, Status.INFEASIBLE):
        return result
    start = _better_start(problem, budget.start, solution)
    bracket = column_generation(problem, budget=replace(budget, start=start))
    return replace(bracket, method="buckets")


def _better_start(
    problem: Placement, start: PlacementSolution | None, found: PlacementSolution | None
) -> PlacementSolution | None:
    known = [solution for solution in (start, found) if solution is not None]
    return min(known, key=problem.objective, default=None)


def unsuited(problem: Placement) -> str:
    """Return why the method cannot handle a problem, or an empty string if it can."""
    if problem.minimize != "servers":
        return f"it minimizes servers, not {problem.minimize}"
    if problem.beyond_amounts:
        return problem.beyond_amounts
    if not problem.split_jobs and len({server.pool for server in problem.servers}) > 1:
        return "it supports one pool, and jobs that must not be split can choose between two"
    if any(any(demand[1:]) for demand in problem.demands):
        return "workers need more than GPUs"
    return ""


def _bound(problem: Placement) -> int | None:
    """Return a lower bound on the number of servers in use, or None if there are not enough GPUs."""
    rest = sum(line.demand.gpu * line.count for line in problem.workers)
    rest -= sum(server.free_gpus * server.count for server in problem.servers if server.in_use)
    count = sum(server.count for server in problem.servers if server.in_use)
    for gpus, servers in sorted(
        ((s.free_gpus, s.count) for s in problem.servers if not s.in_use), reverse=True
    ):
        opened = min(servers, -(-rest // gpus)) if rest > 0 and gpus else 0
        count += opened
        rest -= opened * gpus
    return count if rest <= 0 else None


def _best_fit_decreasing(problem: Placement) -> PlacementSolution | None:
    servers = _Buckets(problem)
    sizes: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for index, line in enumerate(problem.workers):
        sizes[line.demand.gpu].append((index, line.count))
    placed: list[Placed] = []
    for gpus in sorted(sizes, reverse=True):
        free, name = 0, ""
        for index, count in sizes[gpus]:
            left = count
            while left:
                if free < gpus:
                    servers.put(free, name)
                    found = servers.take(gpus)
                    if found is None:
                        return None
                    free, name = found
                number = min(left, free // gpus)
                placed.append(Placed(name, index, number))
                left -= number
                free -= number * gpus
        servers.put(free, name)
    return PlacementSolution(placed=tuple(placed))


class _Buckets:
    """Servers in use, in buckets by their number of free GPUs, and the empty servers."""

    def __init__(self, problem: Placement) -> None:
        self._in_use: defaultdict[int, list[str]] = defaultdict(list)
        self._levels: list[int] = []  # keys of the non-empty buckets, ascending
        for server in problem.servers:
            for name in server.names if server.in_use else ():
                self.put(server.free_gpus, name)
        empty = sorted((s for s in problem.servers if not s.in_use), key=lambda s: s.free_gpus, reverse=True)
        self._empty = ((server.free_gpus, name) for server in empty for name in server.names)

    def put(self, free: int, name: str) -> None:
        """Put a server with the given number of free GPUs into its bucket, unless the number is 0."""
        if free:
            bucket = self._in_use[free]
            if not bucket:
                insort(self._levels, free)
            bucket.append(name)

    def take(self, gpus: int) -> tuple[int, str] | None:
        """Take out the best fit or, if there is none, the largest empty server; None if that is too small."""
        position = bisect_left(self._levels, gpus)
        if position == len(self._levels):
            opened = next(self._empty, None)
            return opened if opened is not None and opened[0] >= gpus else None
        free = self._levels[position]
        bucket = self._in_use[free]
        name = bucket.pop()
        if not bucket:
            del self._levels[position]
        return free, name
