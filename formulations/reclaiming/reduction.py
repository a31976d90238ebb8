"""Reduction: a reclaiming problem without the servers, jobs and costs that need no decision of their own."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, gcd
from typing import NamedTuple

from formulations.reclaiming.survival import survival
from gsopt.errors import Unsupported
from gsopt.problem import Number
from gsopt.problems.reclaiming import Job, Reclaiming, ReclaimingSolution

#: Doubles hold every integer up to here.
_LARGEST_EXACT = 2**53

#: A solver's bound may overshoot by this much, relative, and still mean the value below it.
_OVERSHOOT = 1e-6


class Group(NamedTuple):
    """Servers that are alike: the same merged jobs, and the same cost of their own.

    Attributes
    ----------
    servers
        Their positions in the problem.
    cost
        What returning one of them costs beside its merged jobs.
    jobs
        The merged jobs that have to be preempted first, in rising order.
    """

    servers: tuple[int, ...]
    cost: float
    jobs: tuple[int, ...]


@dataclass(frozen=True)
class Reduction:
    """Minimum k-union with alike jobs and alike servers merged.

    A job on one server is part of that server's cost; jobs on the same servers are one job with the sum of
    their weights; servers with the same jobs and the same cost are one group. With collateral damage as second
    objective, the weight of a job carries all GPUs that it uses, and a returned server gives its GPUs back.

    Attributes
    ----------
    demand
        Number of servers to return.
    weights
        What preempting each merged job costs.
    groups
        The groups of servers.
    step
        Every objective value is a whole multiple of this number, and a double holds it; None where doubles
        cannot add up the costs exactly.
    offset
        Cost that is paid in any case.

    Examples
    --------
    >>> from gsopt.problems.reclaiming import Server
    >>> servers = [Server(name=name, gpus=8) for name in ("s1", "s2", "s3")]
    >>> wide = Job(name="wide", workers={"s1": 4, "s2": 4})
    >>> small = Job(name="small", workers={"s3": 1})
    >>> reduction = reduce(Reclaiming(demand=2, servers=servers, jobs=[wide, small]))
    >>> reduction.weights, reduction.groups[0]
    ((1.0,), Group(servers=(0, 1), cost=0.0, jobs=(0,)))
    """

    demand: int
    weights: tuple[float, ...]
    groups: tuple[Group, ...]
    step: Fraction | None
    offset: float = 0.0

    def number(self, value: float) -> Number:
        """Give an objective value as an exact number where the costs are exact."""
        if self.step is None:
            return float(value)
        exact = Fraction(value)
        return exact.numerator if exact.denominator == 1 else exact

    def rounded_up(self, bound: float) -> Number:
        """Give the smallest possible objective value that is not below a solver's bound."""
        if self.step is None:
            return bound
        steps = bound / float(self.step)
        value = ceil(steps - _OVERSHOOT * max(1.0, abs(steps))) * self.step
        return value.numerator if value.denominator == 1 else value

    def value(self, counts: Sequence[int]) -> float:
        """Cost of returning so many servers of each group."""
        hit = {job for group, count in zip(self.groups, counts, strict=True) if count for job in group.jobs}
        own = sum(group.cost * count for group, count in zip(self.groups, counts, strict=True))
        return self.offset + own + sum(self.weights[job] for job in hit)

    def lift(self, counts: Sequence[int], problem: Reclaiming) -> ReclaimingSolution:
        """Name the servers that stand for so many servers of each group."""
        chosen = [
            server for group, count in zip(self.groups, counts, strict=True) for server in group.servers[:count]
        ]
        return ReclaimingSolution(servers=tuple(problem.servers[server].name for server in sorted(chosen)))

    def counts(self, solution: ReclaimingSolution, problem: Reclaiming) -> list[int]:
        """Count the servers of each group that a solution returns."""
        returned = set(solution.servers)
        return [
            sum(problem.servers[server].name in returned for server in group.servers) for group in self.groups
        ]

    def restricted(
        self, preempted: Collection[int], spared: Collection[int], kept: Collection[int] = ()
    ) -> "Reduction":
        """Preempt some merged jobs, spare others, and keep some groups of servers.

        Jobs and groups keep their positions. A group loses its servers when it is kept or has a spared job.
        """
        gone, spare, keep = set(preempted), set(spared), set(kept)
        groups = tuple(
            Group((), group.cost, ())
            if index in keep or not spare.isdisjoint(group.jobs)
            else group._replace(jobs=tuple([job for job in group.jobs if job not in gone]))
            for index, group in enumerate(self.groups)
        )
        paid = sum(self.weights[job] for job in gone)
        return replace(self, groups=groups, offset=self.offset + paid)


def reduce(problem: Reclaiming) -> Reduction:
    """Merge what is alike.

    Raises
    ------
    Unsupported
        Whether a job is preempted, or the collateral damage it causes, depends on more than whether one of a
        fixed set of servers is returned; or the costs are too large to be counted exactly.

    Examples
    --------
    >>> import gsopt
    >>> reduction = reduce(gsopt.load("reclaiming/aryl-figure-5"))
    >>> len(reduction.weights), len(reduction.groups)
    (3, 5)
    """
    position = {server.name: index for index, server in enumerate(problem.servers)}
    own = [0.0] * len(position)
    merged: dict[tuple[int, ...], float] = {}
    for job, weight in zip(problem.jobs, _weights(problem, own, position), strict=True):
        critical = _critical_servers(job, problem)
        if len(critical) == 1:
            (server,) = critical
            own[position[server]] += weight
        elif weight > 0:
            servers = tuple(sorted([position[server] for server in critical]))
            merged[servers] = merged.get(servers, 0.0) + weight
    return Reduction(problem.demand, tuple(merged.values()), _groups(merged, own), _step(problem))


def _weights(problem: Reclaiming, own: list[float], position: Mapping[str, int]) -> list[float]:
    """Give what each job costs; where collateral counts, give its GPUs back with the servers returned."""
    if problem.second_objective == "none":
        return [job.cost for job in problem.jobs]
    for job in problem.jobs:
        for placement in (job.workers, job.flexible):
            for server, gpus in placement.items():
                own[position[server]] -= gpus
    unit = _unit(problem)
    return [unit * job.cost + job.gpus for job in problem.jobs]


def _unit(problem: Reclaiming) -> float:
    """Weigh a cost of 1 against collateral damage: more than all GPUs in use."""
    return 1.0 + sum(job.gpus for job in problem.jobs)


def _critical_servers(job: Job, problem: Reclaiming) -> Collection[str]:
    """List the servers any of which preempts the job when it is returned; no other server may matter."""
    critical, others, _ = rule = survival(job, problem.elasticity)
    if not rule.decided_by_critical:
        raise Unsupported(f"job {job.name!r} survives the loss of some sets of workers and not of others")
    if others and problem.second_objective == "collateral":
        raise Unsupported(f"the collateral damage of job {job.name!r} depends on its flexible workers")
    return critical


def _groups(merged: Collection[tuple[int, ...]], own: Sequence[float]) -> tuple[Group, ...]:
    jobs_on: list[list[int]] = [[] for _ in own]
    for job, servers in enumerate(merged):
        for server in servers:
            jobs_on[server].append(job)
    alike: dict[tuple[float, tuple[int, ...]], list[int]] = {}
    for server, jobs in enumerate(jobs_on):
        alike.setdefault((own[server], tuple(jobs)), []).append(server)
    return tuple(Group(tuple(servers), cost, jobs) for (cost, jobs), servers in alike.items())


def _step(problem: Reclaiming) -> Fraction | None:
    """Greatest common divisor of the costs, or None where doubles cannot add them up exactly."""
    costs = [job.cost for job in problem.jobs if job.cost]
    if problem.second_objective == "collateral":
        if (1 + sum(costs)) * _unit(problem) >= _LARGEST_EXACT:
            raise Unsupported("costs of this size leave no room for collateral damage in the objective")
        return Fraction(1)
    ratios = [cost.as_integer_ratio() for cost in set(costs)]
    parts = max((denominator for _, denominator in ratios), default=1)  # all are powers of two
    if Fraction(sum(costs)) * parts >= _LARGEST_EXACT:
        return None
    return Fraction(gcd(*(numerator * (parts // denominator) for numerator, denominator in ratios)) or 1, parts)
