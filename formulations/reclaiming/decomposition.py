"""Decomposition: bucket elimination, which finds minimum costs for all demands if few jobs share servers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations.common.convolution import convolve, split
from formulations.reclaiming.elimination import min_degree
from formulations.reclaiming.reduction import Reduction, reduce
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.method import exact_method
from gsopt.core.numbers.grid import Exact
from gsopt.core.result import Result
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution

#: Minimum costs, with an axis for each job (0: spared, 1: preempted) and a last axis for the number of returned
#: servers. Costs are 64-bit integers if all sums fit, and otherwise integers of any size.
Table = NDArray[Any]

#: Factor by which additions are slower for integers of any size.
_ANY_SIZE = 30


class Leaf(NamedTuple):
    """Servers that can be returned once the same jobs are preempted, cheapest first.

    Entry n of `costs` is the total cost of the first n servers.
    """

    jobs: tuple[int, ...]
    groups: tuple[int, ...]
    costs: Table


class Bucket(NamedTuple):
    """An elimination step, which decides whether to preempt the first of its jobs.

    The decision is made for every combination of decisions on its other jobs. It takes into account the leaves
    and the finished buckets that contain the first job. `servers` is the number of servers in all of these.
    """

    jobs: tuple[int, ...]
    buckets: tuple[int, ...]
    leaves: tuple[int, ...]
    servers: int


@dataclass(frozen=True)
class EliminationPlan:
    """The plan of the computation, made before any table is filled. Jobs are in elimination order."""

    weights: tuple[int, ...]  # cost of preempting each job
    leaves: tuple[Leaf, ...]  # the servers
    # one per job in elimination order, then the root: it has no job and sums up the components
    buckets: tuple[Bucket, ...]
    groups: int  # number of groups of servers
    never: int  # a cost above that of every choice, which marks impossible entries

    def work(self, most: int) -> int:
        """Return an estimate of the time to fill the tables for at most `most` servers, in 64-bit additions."""
        total = 0
        for bucket in self.buckets:
            cells, servers = 2 ** len(bucket.jobs), 0
            for child in bucket.buckets:
                more = min(self.buckets[child].servers, most)
                total += cells * (servers + 1) * (more + 1)
                servers = min(servers + more, most)
            total += cells * (servers + 1) * len(bucket.leaves)
        return total if _kind(self.never) is np.int64 else _ANY_SIZE * total


@exact_method(unused=["time_limit", "gap", "backend", "on_incumbent", "log"])
def decomposition(problem: Reclaiming, budget: Budget, *, width: int = 12) -> Result[ReclaimingSolution]:
    """Solve a problem by dynamic programming alone, which is possible if few jobs share servers.

    Costs and numbers of returned servers add up over independent parts, so the minimum costs by number of
    servers are combined by (min, +) convolution. Jobs are eliminated one by one. Each elimination fills a table
    of minimum costs. The table has an entry for every choice of preempted jobs among those that share a server
    with the eliminated job, directly or through jobs eliminated before. The time grows with 2 to the power of
    the width, which is the number of jobs in the largest table. The width is known before any table is filled.

    Costs are integer multiples of their unit, so the optimum is exact. Complexity: O(2^width S^2) for S
    servers.

    Parameters
    ----------
    problem
        The problem.
    budget
        Only its start is used, because the computation cannot be stopped.
    width
        Maximum number of jobs in one table.

    Raises
    ------
    Unsupported
        A table would have more than `width` jobs, or the problem cannot be reduced
        (`formulations.reclaiming.reduction.reduce`).

    Notes
    -----
    Source: Dechter, Bucket elimination, Artificial Intelligence 113 (1999), for minimum k-union as in Aryl,
    section 4.

    Examples
    --------
    >>> import gsopt
    >>> decomposition(gsopt.load("reclaiming/aryl-figure-5")).objective
    1
    """
    reduction = reduce(problem).net()
    program = _narrow(reduction, width)
    tables = fill(program, problem.demand)
    return Result.judged(
        problem,
        method="decomposition",
        solution=reduction.lift(choose(program, tables, problem.demand), problem),
        bound=reduction.number(reduction.paid + int(tables[-1][problem.demand])),
        runtime=budget.runtime,
        message=f"width {max(0, *(len(bucket.jobs) - 1 for bucket in program.buckets))}",
    )


def curve(problem: Reclaiming, *, width: int = 12) -> tuple[Exact, ...]:
    """Return the minimum objective for every demand; entry n stands for n returned servers.

    Raises `Unsupported` if a table would have more than `width` jobs, or if the problem cannot be reduced.
    """
    reduction = reduce(problem)
    tables = fill(_narrow(reduction, width), len(problem.servers))
    return tuple(reduction.number(value) for value in tables[-1].tolist())


def _narrow(reduction: Reduction, width: int) -> EliminationPlan:
    program = plan(reduction, width)
    if program is None:
        raise Unsupported(f"the jobs share servers so closely that a table would have more than {width} jobs")
    return program


def optimum(program: EliminationPlan, demand: int) -> list[int] | None:
    """Return the number of servers of each group in a best choice of `demand` servers.

    Returns None if there are too few servers.
    """
    tables = fill(program, demand)
    if tables[-1].size <= demand:
        return None
    return choose(program, tables, demand)


def plan(reduction: Reduction, width: int) -> EliminationPlan | None:
    """Order the jobs for elimination.

    Returns None if the table of a job would have more than `width` other jobs.
    """
    members: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for index, group in enumerate(reduction.groups):
        if group.servers:
            members.setdefault(group.jobs, []).extend([(group.cost, index)] * len(group.servers))
    order = min_degree(members, width)
    if order is None:
        return None
    rank = {job: number for number, job in enumerate(order)}
    never = 1 + reduction.largest
    leaves = tuple(
        _leaf(tuple(sorted([rank[job] for job in jobs])), servers, _kind(never))
        for jobs, servers in members.items()
    )
    weights = tuple(reduction.weights[job] for job in order)
    return EliminationPlan(weights, leaves, tuple(_buckets(leaves, len(order))), len(reduction.groups), never)


def _kind(never: int) -> type:
    """Return the integer type of the tables, in which sums of a few entries must fit."""
    return np.int64 if 4 * never < 2**63 else object


def _leaf(jobs: tuple[int, ...], servers: list[tuple[int, int]], kind: type) -> Leaf:
    servers.sort()
    costs: Table = np.array(list(accumulate((cost for cost, _ in servers), initial=0)), dtype=kind)
    return Leaf(jobs, tuple(group for _, group in servers), costs)


def _buckets(leaves: Sequence[Leaf], root: int) -> Iterator[Bucket]:
    """Yield the buckets. Each leaf and each finished bucket becomes part of the bucket of its first job."""
    scopes: list[set[int]] = [{job} for job in range(root)] + [set()]
    waiting_leaves: list[list[int]] = [[] for _ in scopes]
    waiting_buckets: list[list[int]] = [[] for _ in scopes]
    servers = [0 for _ in scopes]
    for index, leaf in enumerate(leaves):
        first = leaf.jobs[0] if leaf.jobs else root
        waiting_leaves[first].append(index)
        scopes[first].update(leaf.jobs)
        servers[first] += len(leaf.groups)
    for number, jobs in enumerate(scopes):
        scope = tuple(sorted(jobs))
        children = tuple(sorted(waiting_buckets[number], key=servers.__getitem__))
        yield Bucket(scope, children, tuple(waiting_leaves[number]), servers[number])
        if number < root:
            following = scope[1] if len(scope) > 1 else root
            waiting_buckets[following].append(number)
            scopes[following].update(scope[1:])
            servers[following] += servers[number]


def fill(program: EliminationPlan, most: int) -> list[Table]:
    """Fill the table of each bucket. The last one holds the minimum cost of returning 0 to `most` servers."""
    tables: list[Table] = []
    for bucket in program.buckets:
        table: Table = np.zeros((2,) * len(bucket.jobs) + (1,), dtype=_kind(program.never))
        for child in bucket.buckets:
            part = _spread(tables[child], program.buckets[child].jobs[1:], bucket.jobs)
            table = convolve(table, part, most, program.never)
        for child in bucket.leaves:
            table = _attach(table, program.leaves[child], bucket.jobs, most, program.never)
        if bucket.jobs:
            table = np.minimum(table[0], table[1] + program.weights[bucket.jobs[0]])
        tables.append(table)
    return tables


def _spread(table: Table, jobs: Sequence[int], wanted: Sequence[int]) -> Table:
    """Add to a table an axis of length 1 for each wanted job that it does not have yet."""
    return table.reshape([2 if job in jobs else 1 for job in wanted] + [-1])


def _attach(table: Table, leaf: Leaf, jobs: Sequence[int], most: int, never: int) -> Table:
    """Add servers that can be returned if all their jobs are preempted."""
    counts = table.shape[-1]
    wider = np.full((*table.shape[:-1], min(counts + len(leaf.groups), most + 1)), never, dtype=table.dtype)
    wider[..., :counts] = table
    preempted = tuple(1 if job in leaf.jobs else slice(None) for job in jobs)
    wider[preempted] = convolve(table[preempted], leaf.costs, most, never)
    return wider


def choose(program: EliminationPlan, tables: Sequence[Table], demand: int) -> list[int]:
    """Trace an optimum from the root to the leaves, and return its number of servers in each group."""
    counts = [0] * program.groups
    preempted = [0] * len(program.weights)
    pending = [(len(program.buckets) - 1, demand)]
    while pending:
        number, count = pending.pop()
        if count == 0:
            continue
        bucket = program.buckets[number]
        shares = iter(_shares(program, tables, bucket, preempted, count))
        pending += [(child, next(shares)) for child in bucket.buckets]
        for child in bucket.leaves:
            for group in program.leaves[child].groups[: next(shares)]:
                counts[group] += 1
    return counts


def _shares(
    program: EliminationPlan, tables: Sequence[Table], bucket: Bucket, preempted: list[int], count: int
) -> list[int]:
    """Decide the bucket's job, record it in `preempted`, and return the number of servers in each part."""
    best: tuple[int, int, list[Table], list[Table]] = (program.never, 0, [], [])
    for bit in (0, 1) if bucket.jobs else (0,):
        cost = 0
        if bucket.jobs:
            preempted[bucket.jobs[0]] = bit
            cost = bit * program.weights[bucket.jobs[0]]
        parts = [
            tables[child][tuple([preempted[job] for job in program.buckets[child].jobs[1:]])]
            for child in bucket.buckets
        ]
        for child in bucket.leaves:
            leaf = program.leaves[child]
            parts.append(leaf.costs if all(preempted[job] for job in leaf.jobs) else leaf.costs[:1])
        sums = list(accumulate(parts, lambda left, right: convolve(left, right, count, program.never)))
        if count < sums[-1].size and sums[-1][count] + cost < best[0]:
            best = (int(sums[-1][count]) + cost, bit, parts, sums)
    _, bit, parts, sums = best
    if bucket.jobs:
        preempted[bucket.jobs[0]] = bit
    return split(parts, sums, count)
