"""Preemption cost: the sum of the shares of a server's jobs, according to three definitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Literal, get_args

from gsopt.core.errors import require_one_of
from gsopt.problems.reclaiming import Reclaiming
from heuristics.reclaiming.hosting import Hosting

#: The three definitions in Aryl's Table 1.
Definition = Literal["number_of_jobs", "server_fraction", "gpu_fraction"]


@dataclass(frozen=True, slots=True)
class JobShares:
    """Each job's share in the preemption cost of each of its servers, in exact integers.

    A common factor turns fractions into integers. In floating point, adding and subtracting reciprocals would
    leave residues, which would decide ties.

    Attributes
    ----------
    of
        Each job's share on each of its servers, in the order of `Hosting.servers_of`.
    unit
        Number of units in a cost of 1.
    """

    of: Sequence[Sequence[int]]
    unit: int

    def totals(self, hosting: Hosting) -> list[int]:
        """Return the preemption cost of each server, in units."""
        cost = [0] * len(hosting.names)
        for servers, shares in zip(hosting.servers_of, self.of, strict=True):
            for server, share in zip(servers, shares, strict=True):
                cost[server] += share
        return cost


def number_of_jobs(hosting: Hosting) -> JobShares:
    """Return shares that equal a job's full cost on each of its servers.

    If every cost is 1, the total of a server is the number of jobs that it hosts.
    """
    return JobShares(_same_on_all(hosting, hosting.weights), hosting.unit)


def job_counts(hosting: Hosting) -> JobShares:
    """Return shares in which each job counts as 1 on each of its servers, regardless of its cost."""
    return JobShares(_same_on_all(hosting, [1] * len(hosting.weights)), 1)


def server_fractions(hosting: Hosting, elsewhere: Sequence[int] | None = None) -> JobShares:
    """Return shares that equal a job's cost divided by the number of its servers.

    `elsewhere` contains the number of each job's servers that are not on loan. If given, these count too.
    """
    sizes = [len(servers) for servers in hosting.servers_of]
    if elsewhere is not None:
        sizes = [size + more for size, more in zip(sizes, elsewhere, strict=True)]
    common = lcm(*set(sizes))
    shares = [weight * (common // size) for weight, size in zip(hosting.weights, sizes, strict=True)]
    return JobShares(_same_on_all(hosting, shares), hosting.unit * common)


def gpu_fractions(hosting: Hosting, problem: Reclaiming) -> JobShares:
    """Return shares that equal a job's cost times the fraction of its base workers' GPUs on the server."""
    gpus = [list(job.workers.values()) for job in problem.jobs]
    totals = [sum(workers) for workers in gpus]
    common = lcm(*set(totals))
    shares = [
        [weight * (common // total) * part for part in workers]
        for weight, total, workers in zip(hosting.weights, totals, gpus, strict=True)
    ]
    return JobShares(shares, hosting.unit * common)


def preemption_costs(problem: Reclaiming, definition: Definition = "server_fraction") -> dict[str, Fraction]:
    """Return the preemption cost of each server, keyed by name, before any server is returned.

    Parameters
    ----------
    problem
        The problem.
    definition
        The column of Table 1. Each job on a server adds its cost (``number_of_jobs``), its cost divided by the
        number of its servers (``server_fraction``), or its cost times the fraction of its GPUs on the server
        (``gpu_fraction``). Only base workers on servers on loan count.

    Raises
    ------
    InvalidInput
        The definition is unknown.

    Notes
    -----
    Source: Aryl, section 4, Table 1.
    """
    hosting = Hosting.of(problem)
    require_one_of("definition", definition, get_args(Definition))
    if definition == "gpu_fraction":
        shares = gpu_fractions(hosting, problem)
    else:
        shares = number_of_jobs(hosting) if definition == "number_of_jobs" else server_fractions(hosting)
    totals = shares.totals(hosting)
    return {name: Fraction(cost, shares.unit) for name, cost in zip(hosting.names, totals, strict=True)}


def _same_on_all(hosting: Hosting, shares: Sequence[int]) -> list[list[int]]:
    return [[share] * len(servers) for share, servers in zip(shares, hosting.servers_of, strict=True)]
