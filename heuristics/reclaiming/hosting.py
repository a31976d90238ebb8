"""Hosting: which jobs run on which servers, by index."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import lcm

from gsopt.core.numbers.grid import decimal
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution


@dataclass(frozen=True, slots=True)
class Hosting:
    """The assignment of jobs to servers, both numbered in the order of the instance.

    Only base workers count. A server with only flexible workers therefore counts as empty, and methods that
    begin with empty servers return it early (Aryl, section 5.3). This is also safe with
    ``elasticity="fungible"``, because a job that keeps all its base workers is not preempted then either.

    Attributes
    ----------
    names
        Name of each server.
    servers_of
        The servers on which each job has base workers.
    jobs_of
        The jobs with base workers on each server.
    weights
        Cost of each job as an integer number of units.
    unit
        Number of units in a cost of 1: the smallest number with which all weights are integers.
    """

    names: Sequence[str]
    servers_of: Sequence[Sequence[int]]
    jobs_of: Sequence[Sequence[int]]
    weights: Sequence[int]
    unit: int

    @classmethod
    def of(cls, problem: Reclaiming) -> "Hosting":
        """Return the assignment of the jobs of a problem to its servers."""
        names = [server.name for server in problem.servers]
        position = {name: server for server, name in enumerate(names)}
        servers_of = [[position[name] for name in job.workers] for job in problem.jobs]
        jobs_of: list[list[int]] = [[] for _ in names]
        for job, servers in enumerate(servers_of):
            for server in servers:
                jobs_of[server].append(job)
        ratios = [decimal(job.cost).as_integer_ratio() for job in problem.jobs]
        unit = lcm(*{denominator for _, denominator in ratios})
        weights = [numerator * (unit // denominator) for numerator, denominator in ratios]
        return cls(names, servers_of, jobs_of, weights, unit)

    def solution(self, servers: Iterable[int]) -> ReclaimingSolution:
        """Return the solution with the given servers, in the given order."""
        return ReclaimingSolution(servers=tuple(self.names[server] for server in servers))
