"""Search: a branch and bound over the workers, which supports parts of GPUs, GPU types and unplaced workers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from formulations.placement.answer import without_model
from formulations.placement.ceiling import ceiling
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.placement import WHOLE_GPU, Placed, PlacedPart, Placement, PlacementSolution

#: Largest number of workers for which placements are searched. With more, only a bound is proven.
_MOST_WORKERS = 200

#: Number of states between two checks of the time limit.
_OFTEN = 256


@exact_method(unused=["backend", "gap", "log", "on_incumbent"])
def search(problem: Placement, budget: Budget) -> Result[PlacementSolution]:
    """Place one worker after another, the largest first, in all possible ways, and skip repeated states.

    A state is what each server has left; identical servers are interchangeable. If unallocated GPUs are
    minimized, a worker may also stay unplaced. A branch ends if its bound is no better than the best placement.

    The bound is the number of servers in use plus those that the scarcest resource still requires. If
    unallocated GPUs are minimized, it is what stays unallocated even if all remaining workers are placed. With
    more than 200 workers, nothing is searched, and only a bound is returned. If unallocated GPUs are minimized,
    this is the result of `formulations.placement.ceiling.ceiling`.

    Size
    ----
    Exponential in the number of workers.

    Source
    ------
    Martello and Toth, Knapsack Problems (1990), section 8.5, for bins. The states of individual GPUs are
    gsopt's own.

    Parameters
    ----------
    problem
        The problem, which must minimize servers or unallocated GPUs.
    budget
        Time limit and start.

    Raises
    ------
    Unsupported
        The problem has another objective, or jobs must not be split and there are two pools.

    Examples
    --------
    >>> from gsopt.problems.placement import Resources, Server, Workers
    >>> problem = Placement(
    ...     minimize="unallocated",
    ...     servers=[Server(name="s", capacity=Resources(gpu=2))],
    ...     workers=[
    ...         Workers(job="a", demand=Resources(), gpu_part=600),
    ...         Workers(job="b", demand=Resources(), gpu_part=500, count=2),
    ...         Workers(job="c", demand=Resources(), gpu_part=400),
    ...     ],
    ... )
    >>> search(problem).objective
    0
    """
    if problem.minimize not in ("servers", "unallocated"):
        raise Unsupported(f"search: it minimizes servers or unallocated GPUs, not {problem.minimize}")
    if not problem.split_jobs and len({server.pool for server in problem.servers}) > 1:
        raise Unsupported(
            "search: it supports one pool, and jobs that must not be split can choose between two"
        )
    known = without_model(problem, "search", budget)
    if known is not None:
        return known
    bound = ceiling(problem, budget) if problem.minimize == "unallocated" else _least_servers(problem)
    budget.report(bound=bound)
    workers = sum(line.count for line in problem.workers)
    if workers > _MOST_WORKERS:
        return Result.judged(
            problem,
            method="search",
            bound=bound,
            message=f"{workers:,} workers are too many to search; the bound is that of resources",
            runtime=budget.runtime,
        )
    tree = _Tree(problem, budget, bound)
    tree.run()
    proven = tree.best_value if tree.complete and tree.best_value is not None else bound
    return Result.judged(
        problem,
        method="search",
        solution=tree.best,
        bound=None if tree.complete and tree.best is None and budget.start is None else proven,
        infeasible=tree.complete and tree.best is None and budget.start is None,
        stopped_by=StoppedBy.FINISHED if tree.complete or not budget.passed else StoppedBy.TIME_LIMIT,
        message=f"{tree.states:,} states",
        runtime=budget.runtime,
    )


def _in_use(problem: Placement) -> int:
    """Count the servers already in use, which no placement can free."""
    return sum(server.count for server in problem.servers if server.in_use)


def _least_servers(problem: Placement) -> int:
    """Return the number of servers that are in use or that the scarcest resource requires."""
    needs = [
        sum(
            line.count * demand[resource] for line, demand in zip(problem.workers, problem.demands, strict=True)
        )
        for resource in range(len(problem.resources))
    ]
    return _in_use(problem) + _further(needs, _servers(problem))


def _further(needs: Sequence[int], servers: Sequence["_ServerState"]) -> int:
    """Return how many further servers the scarcest resource requires, given what each server has left."""
    most = 0
    for resource, need in enumerate(needs):
        lacking = need - sum(server.free[resource] for server in servers if server.opened)
        rooms = sorted(server.free[resource] for server in servers if not server.opened)
        further = 0
        while lacking > 0 and rooms:
            lacking -= rooms.pop()
            further += 1
        most = max(most, further)
    return most


@dataclass
class _ServerState:
    """What one server has left."""

    kind: tuple[str, bool]  # GPU type, and whether the server was in use from the beginning
    free: list[int]  # free amounts by resource, GPUs first
    shared: list[int]  # free thousandths of each shared GPU
    opened: bool

    def key(self) -> tuple[object, ...]:
        """Return a key that is equal for interchangeable servers."""
        return *self.kind, self.opened, tuple(self.free), tuple(sorted(self.shared))


def _servers(problem: Placement) -> list[_ServerState]:
    """Return the servers as they are at first."""
    return [
        _ServerState(
            (host.gpu_type, host.in_use),
            list(host.free(problem.resources)),
            [WHOLE_GPU - part for part in host.shared],
            host.in_use,
        )
        for host in problem.hosts.values()
    ]


class _Tree:
    """The search tree, in which each level places one worker."""

    def __init__(self, problem: Placement, budget: Budget, bound: int) -> None:
        self._problem, self._budget, self._bound = problem, budget, bound
        order = sorted(
            range(len(problem.workers)),
            key=lambda line: (problem.workers[line].thousandths, problem.demands[line], line),
            reverse=True,
        )
        self._lines = [line for line in order for _ in range(problem.workers[line].count)]
        self._names = list(problem.hosts)
        self._servers = _servers(problem)
        self._serving_all = problem.minimize == "servers"
        self._later = self._sums()
        self._seen: dict[object, int] = {}
        self._chosen: list[tuple[int, int, int]] = []  # server, GPU or -1, line
        self.best: PlacementSolution | None = None
        self.best_value: int | None = None
        self.states, self.complete = 0, False

    def _sums(self) -> list[list[int]]:
        """Return, for each place in the order, the total needs of the workers from there on."""
        sums = [[0] * (len(self._problem.resources) + 1)]
        for line in reversed(self._lines):
            needs = [*self._problem.demands[line], self._problem.workers[line].thousandths]
            sums.append([total + need for total, need in zip(sums[-1], needs, strict=True)])
        return sums[::-1]

    def run(self) -> None:
        """Search until all states are explored or the time limit is reached."""
        start = self._budget.start
        if start is not None:
            self.best_value = int(self._problem.objective(start))
            self.best = start
        value = _in_use(self._problem)
        if not self._serving_all:
            value = sum(server.thousandths * server.count for server in self._problem.servers)
        stack = [self._children(0, value, 0)]
        undo: list[tuple[int, int, int] | None] = []
        while stack:
            step = next(stack[-1], None)
            if step is None:
                stack.pop()
                if undo:
                    self._take_back(undo.pop())
                continue
            if self._stops():
                return
            placed, skipped, value = step
            undo.append(self._put(len(stack) - 1, placed))
            stack.append(self._children(len(stack), value, skipped))
        self.complete = True

    def _stops(self) -> bool:
        if self.best_value is not None and self.best_value <= self._bound:
            self.complete = True
            return True
        return self.states % _OFTEN == 0 and self._budget.passed

    def _children(
        self, place: int, value: int, skipped: int
    ) -> Iterator[tuple[tuple[int, int] | None, int, int]]:
        """Yield where a worker can go: a server and GPU or None, whether it is skipped, and the new value.

        `skipped` is 1 if the previous worker stayed unplaced. Identical workers after it then stay unplaced,
        too.
        """
        self.states += 1
        if place == len(self._lines):
            self._note(value)
            return
        if self.best_value is not None and self._least(place, value) >= self.best_value:
            return
        state = (place, skipped, tuple(sorted(server.key() for server in self._servers)))
        if self._seen.get(state, value + 1) <= value:
            return
        self._seen[state] = value
        line = self._lines[place]
        workers = self._problem.workers[line]
        equal = place > 0 and self._lines[place - 1] == line
        if not (skipped and equal):
            tried: set[object] = set()
            for index, server in enumerate(self._servers):
                key = server.key()
                if key in tried or not workers.suits(self._problem.hosts[self._names[index]]):
                    continue
                tried.add(key)
                gain = -workers.thousandths if not self._serving_all else int(not server.opened)
                for gpu in self._gpus(server, line):
                    yield (index, gpu), 0, value + gain
        if not self._serving_all:
            yield None, 1, value

    def _gpus(self, server: _ServerState, line: int) -> list[int]:
        """List the distinct GPUs from which a worker can get a part; [-1] if it needs no part and fits."""
        part = self._problem.workers[line].gpu_part
        if any(need > free for need, free in zip(self._problem.demands[line], server.free, strict=True)):
            return []
        if not part:
            return [-1]
        different = {left: gpu for gpu, left in enumerate(server.shared) if left >= part}
        return [*different.values(), *([len(server.shared)] if server.free[0] else [])]

    def _least(self, place: int, value: int) -> int:
        """Return a lower bound on the value of all placements in this branch."""
        *needs, thousandths = self._later[place]
        if not self._serving_all:
            return max(self._bound, value - thousandths)
        return value + _further(needs, self._servers)

    def _put(self, place: int, placed: tuple[int, int] | None) -> tuple[int, int, int] | None:
        """Place a worker, and return what is needed to undo it."""
        line = self._lines[place]
        if placed is None:
            return None
        index, gpu = placed
        server, part = self._servers[index], self._problem.workers[line].gpu_part
        for resource, need in enumerate(self._problem.demands[line]):
            server.free[resource] -= need
        if part:
            if gpu == len(server.shared):
                server.shared.append(WHOLE_GPU)
                server.free[0] -= 1
            server.shared[gpu] -= part
        before = int(server.opened)
        server.opened = True
        self._chosen.append((index, gpu, line))
        return index, gpu, before

    def _take_back(self, change: tuple[int, int, int] | None) -> None:
        if change is None:
            return
        index, gpu, before = change
        *_, line = self._chosen.pop()
        server, part = self._servers[index], self._problem.workers[line].gpu_part
        server.opened = bool(before)
        for resource, need in enumerate(self._problem.demands[line]):
            server.free[resource] += need
        if part:
            server.shared[gpu] += part
            host = self._problem.hosts[self._names[index]]
            if gpu == len(server.shared) - 1 >= len(host.shared) and server.shared[gpu] == WHOLE_GPU:
                server.shared.pop()
                server.free[0] += 1

    def _note(self, value: int) -> None:
        if self.best_value is not None and value >= self.best_value:
            return
        self.best_value = value
        self.best = PlacementSolution(
            placed=tuple(Placed(self._names[index], line, 1) for index, gpu, line in self._chosen if gpu < 0),
            parts=tuple(
                PlacedPart(self._names[index], gpu, line, 1) for index, gpu, line in self._chosen if gpu >= 0
            ),
        )
        self._budget.report(value=value)
