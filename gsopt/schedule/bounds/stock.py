"""Stock: the most valuable machines that may be available over time, regardless of which are given up."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.events import Event, Leave, Loan, Reclaim, Return
from gsopt.scenario.scenario import Scenario

Array = np.ndarray[Any, Any]

#: Whether a machine is present. A request makes this uncertain for the machines that it may take.
_AWAY, _UNCERTAIN, _THERE = range(3)

#: Kinds of occurrences, in the order in which simultaneous ones are processed.
_CAPACITY, _EVENT, _DEADLINE = range(3)


def most_there(scenario: Scenario, worths: Array) -> Iterator[tuple[float, Array]]:
    """Yield the time of each change, and the largest total values of GPUs that may be available from then on.

    The values hold until the next change. There is one for each row of `worths`, which contains the value of a
    GPU on each machine. It is known how many machines have been given up by each deadline, but not which ones.
    The remaining machines are assumed to be the most valuable ones. No schedule can have machines of higher
    total value, and possibly all have less.
    """
    stock = Stock(scenario.cluster)
    machines = scenario.cluster.machines
    ends = np.cumsum([machine.gpus for machine in machines])
    sizes = np.array([machine.gpus for machine in machines])
    limit = scenario.cluster.gpus
    happenings = sorted(_happenings(scenario), key=lambda each: each[:2])
    for time, instant in groupby(happenings, key=lambda each: each[0]):
        for _, place, what in instant:
            if place == _CAPACITY:
                limit = what
            elif place == _EVENT:
                stock.happen(what)
            else:
                stock.close(what)
        yield time, stock.most(worths * np.clip(limit - (ends - sizes), 0, sizes))


def _happenings(scenario: Scenario) -> Iterator[tuple[float, int, Any]]:
    """Yield every event of a scenario, with its time and its rank among simultaneous events."""
    for change in scenario.capacity_changes:
        yield float(change.time), _CAPACITY, change.gpus
    for event in scenario.events:
        yield float(event.time), _EVENT, event
        if isinstance(event, Reclaim):
            yield float(event.deadline), _DEADLINE, event


@dataclass
class _MachineGroup:
    """A set of machines that are counted together: all machines of one type, or all machines."""

    members: Array
    there: int  # largest number of members that may be present
    promised: int  # the same, including members given up for requests that are still open
    asked: int = 0  # machines requested by open requests that take members only

    @classmethod
    def of(cls, members: Array) -> "_MachineGroup":
        """Create a group in which all members are available."""
        return cls(members, _count(members), _count(members))

    def has(self, machines: Array) -> bool:
        """Check whether all of the given machines are members."""
        return not np.any(machines & ~self.members)

    def come(self, count: int) -> None:
        """Add `count` available members, or remove members if it is negative."""
        self.there += count
        self.promised += count

    def close(self, count: int, elsewhere: int) -> None:
        """Close a request for `count` members; at most `elsewhere` available members are not eligible for it.

        Either all requested machines have been given up, so that `promised` counts them and `there` does not,
        or all machines that the request can take are absent.
        """
        self.asked -= count
        self.there = min(self.there, max(self.promised - count, elsewhere))
        self.promised = max(self.promised - count, elsewhere + self.asked)

    def cut(self, away: Array) -> None:
        """Stop counting members that are certainly absent."""
        most = _count(self.members & ~away)
        self.there = min(self.there, most)
        self.promised = min(self.promised, most + self.asked)


class Stock:
    """The machines of a cluster from event to event, regardless of which ones a schedule gives up.

    Machines are counted in groups: one for each type, and one for all machines. A request for machines of one
    type counts in both groups of these machines; any other request counts only in the group of all machines.
    Each group has two counts: the largest number of machines that may be present, and the same number
    including machines given up for requests that are still open. At the deadline of a request, the number of
    requested machines is subtracted from the second count, and the first count becomes at most this difference.
    Neither count falls below the number of machines that the request cannot take. A machine that returns or is
    lent is added to both counts.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._number = {machine.name: number for number, machine in enumerate(cluster.machines)}
        self._kinds = np.array([machine.gpu_type for machine in cluster.machines])
        self._types = [_MachineGroup.of(self._kinds == kind) for kind in np.unique(self._kinds)]
        self._groups = [*self._types, _MachineGroup.of(np.ones(len(self._kinds), dtype=bool))]
        self._known = np.full(len(self._kinds), _THERE)
        self._open: list[Reclaim] = []

    def happen(self, event: Event) -> None:
        """Update the machines after an event."""
        if isinstance(event, Leave):
            self._leave(self._named(event.servers))
        elif isinstance(event, Return):
            self._return(self._named(event.servers))
        elif isinstance(event, Loan):
            self._lend(event.servers, self._meant(event))
        else:
            self._ask(event)
        self._cut()

    def close(self, request: Reclaim) -> None:
        """Update the machines at the deadline of a request."""
        self._open.remove(request)
        taken = self._meant(request)
        for group in self._groups:
            if group.has(taken):
                group.close(request.servers or 0, self._elsewhere(group, taken))
        self._cut()

    def most(self, worths: Array) -> Array:
        """Return the largest possible total value of the available machines, for every row of `worths`.

        Of each type, the best machines are chosen, as many as may be available, and of these the best overall.
        No choice is better, because no machine is of two types.
        """
        left = np.where(self._known == _AWAY, 0.0, worths)
        for group in self._groups:
            members = np.flatnonzero(group.members)
            spare = len(members) - group.there
            if spare > 0:
                parts = left[:, members]
                np.put_along_axis(parts, np.argsort(parts, axis=1)[:, :spare], 0.0, axis=1)
                left[:, members] = parts
        found: Array = left.sum(axis=1)
        return found

    # What happens

    def _leave(self, servers: Array) -> None:
        for group in self._groups:
            group.come(-_count(group.members & servers & (self._known == _THERE)))
        self._known[servers] = _AWAY

    def _return(self, servers: Array) -> None:
        for group in self._groups:
            group.come(_count(group.members & servers & (self._known != _THERE)))
        self._known[servers] = _THERE
        for request in self._open:
            self._doubt(servers & self._meant(request))

    def _lend(self, servers: int, meant: Array) -> None:
        """Bring back at most `servers` absent machines. It is unknown which ones."""
        for group in self._groups:
            group.come(min(servers, _count(group.members & meant & (self._known != _THERE))))
        self._known[meant & (self._known == _AWAY)] = _UNCERTAIN

    def _ask(self, request: Reclaim) -> None:
        taken = self._meant(request)
        self._open.append(request)
        for group in self._groups:
            if group.has(taken):
                group.asked += request.servers or 0
        self._doubt(taken)

    def _doubt(self, machines: Array) -> None:
        """Record that machines that were available may be absent from now on."""
        self._known[machines & (self._known == _THERE)] = _UNCERTAIN

    def _cut(self) -> None:
        for group in self._groups:
            group.cut(self._known == _AWAY)

    # Which machines

    def _named(self, servers: Iterable[str]) -> Array:
        found = np.zeros(len(self._known), dtype=bool)
        found[[self._number[server] for server in servers]] = True
        return found

    def _meant(self, event: Reclaim | Loan) -> Array:
        """Return the machines that a request may take or a loan may bring back."""
        if event.among:
            return self._named(event.among)
        return self._kinds == event.gpu_type if event.gpu_type else np.ones(len(self._kinds), dtype=bool)

    def _elsewhere(self, group: _MachineGroup, taken: Array) -> int:
        """Count the members of a group that may be available and that a request cannot take."""
        left = ~taken & (self._known != _AWAY)
        parts = [part for part in self._types if group.has(part.members)]
        return sum(min(part.there, _count(part.members & left)) for part in parts)


def _count(machines: Array) -> int:
    return int(np.count_nonzero(machines))
