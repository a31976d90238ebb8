"""Preemption cost of a server: the sum of what each of its jobs contributes, by three definitions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Literal

from gsopt.problems.reclaiming import Reclaiming
from heuristics.reclaiming.hosting import Hosting
from heuristics.reclaiming.options import choose

#: The three definitions of Aryl's Table 1.
Definition = Literal["number_of_jobs", "server_fraction", "gpu_fraction"]


@dataclass(frozen=True, slots=True)
class JobShares:
    """What each job contributes to the preemption cost of each of its servers, in exact integers.

    Fractions become integers by one common factor: in floating point the reciprocals of the server counts leave
    residues when they are added and subtracted, and the residues would decide ties.

    Attributes
    ----------
    of
        The share of each job on each of its servers, in the order of `Hosting.servers_of`.
    unit
        How many units make a cost of 1.
    """

    of: Sequence[Sequence[int]]
    unit: int

    def totals(self, hosting: Hosting) -> list[int]:
        """Add up the preemption cost of each server, in units."""
        cost = [0] * len(hosting.names)
        for servers, shares in zip(hosting.servers_of, self.of, strict=True):
            for server, share in zip(servers, shares, strict=True):
                cost[server] += share
        return cost


def number_of_jobs(hosting: Hosting) -> JobShares:
    """Let each job contribute its cost: the number of running jobs when every cost is 1."""
    return JobShares(_same_on_all(hosting, hosting.weights), hosting.unit)


def job_counts(hosting: Hosting) -> JobShares:
    """Let each job contribute 1, whatever its cost."""
    return JobShares(_same_on_all(hosting, [1] * len(hosting.weights)), 1)


def server_fractions(hosting: Hosting, elsewhere: Sequence[int] | None = None) -> JobShares:
    """Let each job contribute its cost divided by the number of its servers.

    Parameters
    ----------
    hosting
        Which jobs stand on which servers.
    elsewhere
        Number of servers of each job outside the loan that are to count too; none when None.
    """
    sizes = [len(servers) for servers in hosting.servers_of]
    if elsewhere is not None:
        sizes = [size + more for size, more in zip(sizes, elsewhere, strict=True)]
    common = lcm(*set(sizes))
    shares = [weight * (common // size) for weight, size in zip(hosting.weights, sizes, strict=True)]
    return JobShares(_same_on_all(hosting, shares), hosting.unit * common)


def gpu_fractions(hosting: Hosting, problem: Reclaiming) -> JobShares:
    """Let each job contribute its cost times the fraction of its GPUs that is on the server."""
    gpus = [list(job.workers.values()) for job in problem.jobs]
    totals = [sum(workers) for workers in gpus]
    common = lcm(*set(totals))
    shares = [
        [weight * (common // total) * part for part in workers]
        for weight, total, workers in zip(hosting.weights, totals, gpus, strict=True)
    ]
    return JobShares(shares, hosting.unit * common)


def preemption_costs(problem: Reclaiming, definition: Definition = "server_fraction") -> dict[str, Fraction]:
    """Return the preemption cost of each server before any server is returned.

    Parameters
    ----------
    problem
        The problem.
    definition
        Column of Table 1. Each job of a server adds its cost (``number_of_jobs``), its cost divided by the
        number of its servers (``server_fraction``), or its cost times the fraction of its GPUs on the server
        (``gpu_fraction``).

    Returns
    -------
    dict
        Cost by name of server, in units of job cost.

    Raises
    ------
    InvalidInput
        There is no such definition.

    Notes
    -----
    Source: Aryl, section 4, Table 1.
    """
    hosting = Hosting.of(problem)
    definitions: dict[str, Callable[[], JobShares]] = {
        "number_of_jobs": lambda: number_of_jobs(hosting),
        "server_fraction": lambda: server_fractions(hosting),
        "gpu_fraction": lambda: gpu_fractions(hosting, problem),
    }
    shares = choose("definition", definition, definitions)()
    totals = shares.totals(hosting)
    return {name: Fraction(cost, shares.unit) for name, cost in zip(hosting.names, totals, strict=True)}


def _same_on_all(hosting: Hosting, shares: Sequence[int]) -> list[list[int]]:
    return [[share] * len(servers) for share, servers in zip(shares, hosting.servers_of, strict=True)]
