"""Cover: how many workers of a pending gang fit on each machine, and how many more if gangs stop."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from formulations.admission.stops import Numbers, Stops
from gsopt.problems.admission import Admission, Gang


@dataclass(frozen=True, eq=False)
class Cover:
    """A pending gang with identical workers, and the machines on which they may run.

    A domain is a group at the gang's level, or the whole cluster if it has none. Each domain is a separate
    problem: stop gangs at minimum cost so that the domain's machines can hold all workers. A copy is the room
    for one worker on a machine. If there are slices, only whole slices count: the copies on the machines of a
    slice group are added up and rounded down to whole slices.
    """

    need: Numbers  # positive amounts of resources that one worker needs, shape (resources,)
    free: Numbers  # free amounts of these, shape (machines, resources)
    load: Numbers  # what each incidence of `stops` frees of these, shape (incidences, resources)
    count: int  # workers
    slice: int  # workers of a slice; 1 without slices
    able: Numbers  # machines on which workers may run, ascending
    domain: Numbers  # domain of every machine, shape (machines,)
    group: Numbers  # slice group of every machine; the machine itself without slices; shape (machines,)
    domains: int  # number of domains
    stops: Stops

    @classmethod
    def of(cls, problem: Admission, gang: Gang, stops: Stops, *, free: Numbers) -> "Cover":
        """Collect the data of a pending gang that has one part, and of the machines and the running gangs."""
        part = gang.parts[0]
        machines = len(problem.cluster.machines)
        needs = np.array(part.needs.vector(problem.resources), dtype=np.int64)
        asked = np.flatnonzero(needs)
        if gang.within:
            domain = np.array(problem.cluster.group_of(gang.within), dtype=np.int64)
        else:
            domain = np.zeros(machines, dtype=np.int64)
        group = np.arange(machines, dtype=np.int64)
        if part.slice:
            group = np.array(problem.cluster.group_of(part.slice_within), dtype=np.int64)
        return cls(
            need=needs[asked],
            free=free[:, asked],
            load=stops.load[:, asked],
            count=part.count,
            slice=part.slice or 1,
            able=np.array(sorted(problem.eligible(part)), dtype=np.int64),
            domain=domain,
            group=group,
            domains=int(domain.max()) + 1,
            stops=stops,
        )

    @cached_property
    def copies(self) -> Numbers:
        """How many of the gang's workers fit on each machine now; 0 where none may run."""
        return self.held_by(self.free)

    @cached_property
    def most(self) -> Numbers:
        """How many of the gang's workers fit on each machine if all gangs that may stop do so."""
        freed = np.zeros_like(self.free)
        np.add.at(freed, self.stops.machine, self.load)
        return self.held_by(self.free + freed)

    def held_by(self, free: Numbers) -> Numbers:
        """Return how many of the gang's workers fit on each machine if the given amounts are free."""
        found = np.zeros(len(free), dtype=np.int64)
        found[self.able] = np.clip((free[self.able] // self.need).min(axis=1), 0, self.count)
        return found

    def room(self, copies: Numbers) -> Numbers:
        """Return how many workers, in whole slices, fit in each domain, given the copies on every machine."""
        held = np.bincount(self.group, weights=copies).astype(np.int64) // self.slice * self.slice
        return np.bincount(self.domain_of_group, weights=held, minlength=self.domains).astype(np.int64)

    @cached_property
    def domain_of_group(self) -> Numbers:
        """The domain of every slice group; no slice group is wider than a domain."""
        found = np.zeros(int(self.group.max()) + 1, dtype=np.int64)
        found[self.group] = self.domain
        return found
