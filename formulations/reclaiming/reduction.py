"""Reduction: a reclaiming problem with identical jobs and servers merged, and unavoidable costs removed."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd
from typing import NamedTuple

from formulations.reclaiming.survival import Survival, survival
from gsopt.core.errors import Unsupported
from gsopt.core.numbers.grid import Exact, decimal, step, whole
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution


class ServerGroup(NamedTuple):
    """Servers with the same merged jobs and the same own cost."""

    servers: tuple[int, ...]  # their positions in the problem
    cost: int  # cost of giving back one of them, without its merged jobs
    jobs: tuple[int, ...]  # the merged jobs that have to be preempted first, ascending


@dataclass(frozen=True)
class Reduction:
    """Minimum k-union with identical jobs and servers merged, in integers.

    A job on a single server is part of that server's own cost. Jobs on the same servers are merged, and their
    weights add up. Servers with the same jobs and the same own cost form a group. If collateral damage is the
    second objective, the weight of a job includes all GPUs that it uses, and the GPUs in use on a server are
    subtracted from the server's own cost.

    All costs are multiples of a common unit, which exists for all decimal data. Values are counted in this
    unit, in integers of any size, so nothing is rounded.
    """

    demand: int  # number of servers to give back
    weights: tuple[int, ...]  # cost of preempting each merged job
    groups: tuple[ServerGroup, ...]  # the groups of servers
    unit: Fraction = Fraction(1)  # what a value of 1 means in the problem's objective
    base: Exact = 0  # the problem's objective at a value of 0
    paid: int = 0  # the part of every value that is already decided

    @property
    def servers(self) -> int:
        """The number of servers that can be returned."""
        return sum(len(group.servers) for group in self.groups)

    @property
    def largest(self) -> int:
        """An upper bound on the magnitude of every value and of all its parts."""
        own = sum(abs(group.cost) * len(group.servers) for group in self.groups)
        return abs(self.paid) + sum(self.weights) + own

    def number(self, value: Exact) -> Exact:
        """Convert a value of the reduction to a value of the problem's objective."""
        return whole(self.base + self.unit * value)

    def value(self, counts: Sequence[int]) -> int:
        """Return the cost of giving back the given number of servers of each group."""
        hit = {job for group, count in zip(self.groups, counts, strict=True) if count for job in group.jobs}
        own = sum(group.cost * count for group, count in zip(self.groups, counts, strict=True))
        return self.paid + own + sum(self.weights[job] for job in hit)

    def lift(self, counts: Sequence[int], problem: Reclaiming) -> ReclaimingSolution:
        """Convert numbers of servers by group to a solution that gives back the first servers of each group."""
        chosen = [
            server for group, count in zip(self.groups, counts, strict=True) for server in group.servers[:count]
        ]
        return ReclaimingSolution(servers=tuple(problem.servers[server].name for server in sorted(chosen)))

    def counts(self, solution: ReclaimingSolution, problem: Reclaiming) -> list[int]:
        """Return the number of servers of each group that a solution gives back."""
        returned = set(solution.servers)
        return [
            sum(problem.servers[server].name in returned for server in group.servers) for group in self.groups
        ]

    def restricted(
        self, preempted: Iterable[int] = (), spared: Iterable[int] = (), kept: Iterable[int] = ()
    ) -> "Reduction":
        """Return the problem with the given merged jobs preempted or spared, and the given groups kept.

        Jobs and groups keep their positions. Groups that are kept or have a spared job become empty.
        """
        gone, spare, keep = set(preempted), set(spared), set(kept)
        groups = tuple(
            ServerGroup((), group.cost, ())
            if index in keep or not spare.isdisjoint(group.jobs)
            else group._replace(jobs=tuple([job for job in group.jobs if job not in gone]))
            for index, group in enumerate(self.groups)
        )
        return replace(self, groups=groups, paid=self.paid + sum(self.weights[job] for job in gone))

    def net(self) -> "Reduction":
        """Remove the costs that every choice pays, and express the rest in the largest common unit.

        A job is sure to be preempted if the number of servers without it is below the demand. Each returned
        server costs at least as much as the cheapest one. The remaining jobs are renumbered.
        """
        sure = self._inevitable()
        left = [job for job in range(len(self.weights)) if job not in sure]
        number = {job: index for index, job in enumerate(left)}
        least = min((group.cost for group in self.groups if group.servers), default=0)
        own = [group.cost - least if group.servers else 0 for group in self.groups]
        unit = gcd(*(self.weights[job] for job in left), *own) or 1
        paid = self.paid + sum(self.weights[job] for job in sure) + least * self.demand
        needed = [tuple([number[job] for job in group.jobs if job in number]) for group in self.groups]
        return Reduction(
            self.demand,
            weights=tuple([self.weights[job] // unit for job in left]),
            groups=tuple(
                [
                    ServerGroup(group.servers, cost // unit, jobs)
                    for group, cost, jobs in zip(self.groups, own, needed, strict=True)
                ]
            ),
            unit=self.unit * unit,
            base=self.number(paid),
        )

    def _inevitable(self) -> set[int]:
        """Return the jobs on more servers than may be kept, which are preempted in any case."""
        spans = [0] * len(self.weights)
        for group in self.groups:
            for job in group.jobs:
                spans[job] += len(group.servers)
        spare = self.servers - self.demand
        return {job for job, span in enumerate(spans) if span > spare}


def reduce(problem: Reclaiming, *, optimistic: bool = False) -> Reduction:
    """Merge identical jobs and servers of a problem.

    In an optimistic reduction, a job is preempted only by the loss of a server that suffices by itself, and all
    other losses are ignored. This is a relaxation: no choice costs more than in the problem itself. In other
    reductions, `Unsupported` is raised if a job survives the loss of any one of several servers, but not of all
    of them, or if collateral damage counts and a job uses a server whose loss it survives.
    """
    rules = [survival(job, problem.elasticity) for job in problem.jobs]
    if not optimistic:
        _refuse_sets(problem, rules)
    position = {server.name: index for index, server in enumerate(problem.servers)}
    weights, unit = _weights(problem, rules)
    own = [0] * len(position)
    merged: dict[tuple[int, ...], int] = {}
    for weight, rule in zip(weights, rules, strict=True):
        servers = tuple(sorted([position[server] for server in rule.critical]))
        if problem.second_objective == "collateral":
            for server, gpus in rule.critical.items():
                own[position[server]] -= gpus
        if len(servers) == 1:
            own[servers[0]] += weight
        elif servers and weight:
            merged[servers] = merged.get(servers, 0) + weight
    return Reduction(problem.demand, tuple(merged.values()), _groups(merged, own), unit)


def strict(problem: Reclaiming) -> Reclaiming:
    """Return a variant of the problem that can be reduced: all base workers are needed, and only costs count.

    A choice of servers preempts at most as many jobs in the original problem as in the variant.
    """
    return problem.model_copy(update={"elasticity": "tagged", "second_objective": "none"})


def _refuse_sets(problem: Reclaiming, rules: Sequence[Survival]) -> None:
    """Raise `Unsupported` if it matters which servers, or which workers, are lost together."""
    for job, rule in zip(problem.jobs, rules, strict=True):
        if not rule.decided_by_critical:
            raise Unsupported(f"job {job.name!r} survives the loss of some sets of workers and not of others")
        if rule.others and problem.second_objective == "collateral":
            raise Unsupported(f"the collateral damage of job {job.name!r} depends on its flexible workers")


def _weights(problem: Reclaiming, rules: Sequence[Survival]) -> tuple[list[int], Fraction]:
    """Return the weight of each job as an integer, and the unit of these weights.

    If collateral damage counts, a weight includes the job's GPUs.
    """
    costs = [decimal(job.cost) for job in problem.jobs]
    if problem.second_objective == "collateral":
        above = 1 + sum(job.gpus for job in problem.jobs)  # more than any collateral damage
        used = [sum(rule.critical.values()) for rule in rules]
        return [above * int(cost) + gpus for cost, gpus in zip(costs, used, strict=True)], Fraction(1)
    unit = step(costs) or Fraction(1)
    whole_units = {cost: int(cost / unit) for cost in set(costs)}
    return [whole_units[cost] for cost in costs], unit


def _groups(merged: Collection[tuple[int, ...]], own: Sequence[int]) -> tuple[ServerGroup, ...]:
    jobs_on: list[list[int]] = [[] for _ in own]
    for job, servers in enumerate(merged):
        for server in servers:
            jobs_on[server].append(job)
    alike: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for server, jobs in enumerate(jobs_on):
        alike.setdefault((own[server], tuple(jobs)), []).append(server)
    return tuple(ServerGroup(tuple(servers), cost, jobs) for (cost, jobs), servers in alike.items())
