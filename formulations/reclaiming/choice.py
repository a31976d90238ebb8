"""Choice: a set of servers to give back, and the cost change of adding or removing each server."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from formulations.reclaiming.reduction import Reduction

#: Largest integer up to which all integers are exact in double precision.
_EXACT = 2**53


@dataclass(frozen=True, eq=False)
class MergedHosting:
    """The assignment of merged jobs to servers. The servers of a group are consecutive.

    Costs are integers stored in double precision, so sums are exact. If costs are too large for that, they are
    scaled down and rounded down. This is accurate enough for the search, and the reduction still computes exact
    values.
    """

    groups: int  # number of groups of servers
    group: Sequence[int]  # the group of each server
    jobs_of: Sequence[Sequence[int]]  # the merged jobs of each server
    servers_of: Sequence[NDArray[np.int64]]  # the servers of each merged job
    own: NDArray[np.float64]  # cost of giving back each server, without its merged jobs, shape (servers,)
    weights: Sequence[float]  # cost of preempting each merged job

    @classmethod
    def of(cls, reduction: Reduction) -> "MergedHosting":
        """Build the hosting of a reduction."""
        groups = reduction.groups
        group = [index for index, alike in enumerate(groups) for _ in alike.servers]
        servers_of: list[list[int]] = [[] for _ in reduction.weights]
        for server, index in enumerate(group):
            for job in groups[index].jobs:
                servers_of[job].append(server)
        scale = -(-reduction.largest // _EXACT) or 1
        return cls(
            len(groups),
            group,
            [groups[index].jobs for index in group],
            [np.array(servers, dtype=np.int64) for servers in servers_of],
            np.array([float(groups[index].cost // scale) for index in group]),
            [float(weight // scale) for weight in reduction.weights],
        )

    def counts(self, servers: Sequence[int]) -> list[int]:
        """Return how many of the given servers are in each group."""
        counts = [0] * self.groups
        for server in servers:
            counts[self.group[server]] += 1
        return counts

    def first(self, counts: Sequence[int]) -> list[int]:
        """Return the first servers of each group, as many as `counts` states."""
        left, servers = list(counts), []
        for server, index in enumerate(self.group):
            if left[index]:
                left[index] -= 1
                servers.append(server)
        return servers


class ServerChoice:
    """A set of servers to give back, with the cost change of adding or removing each server.

    `change` is the cost added by giving back a kept server, or saved by keeping a returned one, shape
    (servers,).
    """

    def __init__(self, hosting: MergedHosting) -> None:
        self._hosting = hosting
        self.change = hosting.own.copy()
        for servers, weight in zip(hosting.servers_of, hosting.weights, strict=True):
            self.change[servers] += weight
        self.returned = np.zeros(hosting.own.size, dtype=np.bool_)
        self.cost = 0.0
        self._hosts = [0] * len(hosting.weights)  # returned servers of each job, and
        self._sum = [0] * len(hosting.weights)  # the sum of their numbers: where there is one, its number

    def give(self, server: int) -> None:
        """Hand a kept server back to its owner.

        Complexity: linear in the total number of servers of all jobs on this server.
        """
        hosting = self._hosting
        self.cost += float(self.change[server])
        self.returned[server] = True
        for job in hosting.jobs_of[server]:
            hosts, weight = self._hosts[job], hosting.weights[job]
            self._hosts[job] = hosts + 1
            if hosts == 0:  # no other server pays for the job any more, and keeping this one would save it
                self.change[hosting.servers_of[job]] -= weight
                self.change[server] += weight
            elif hosts == 1:  # keeping the other server would no longer save it
                self.change[self._sum[job]] -= weight
            self._sum[job] += server

    def keep(self, server: int) -> None:
        """Keep a server that was given back.

        Complexity: linear in the total number of servers of all jobs on this server.
        """
        hosting = self._hosting
        self.cost -= float(self.change[server])
        self.returned[server] = False
        for job in hosting.jobs_of[server]:
            hosts, weight = self._hosts[job] - 1, hosting.weights[job]
            self._hosts[job] = hosts
            self._sum[job] -= server
            if hosts == 0:
                self.change[hosting.servers_of[job]] += weight
                self.change[server] -= weight
            elif hosts == 1:
                self.change[self._sum[job]] += weight
