"""Grants: who has been given how many GPUs so far in a decision, and whether the next step fits."""

from collections.abc import Iterable, Mapping

from gsopt.simulation.parts.pool import Holding, Pool
from heuristics.policies.optimus.contender import Contender


class Grants:
    """The GPUs of a decision, granted from none on.

    Parameters
    ----------
    pool
        All GPUs that are there, as if nobody had any.
    before
        What jobs held before, which they get again where GPUs are of several kinds.
    """

    def __init__(self, pool: Pool, before: Mapping[int, Holding]) -> None:
        self.pool = pool
        self.holdings: dict[int, Holding] = {}
        self._before = before
        self._rungs: dict[int, int] = {}

    def rung(self, job: Contender) -> int:
        """Return the place of what a job has among its counts; -1 where it has nothing."""
        return self._rungs.get(job.number, -1)

    def may_grow(self, job: Contender) -> bool:
        """Check whether a job has a next count, and what that takes is left."""
        rung = self.rung(job)
        if rung + 1 == len(job.counts):
            return False
        held = job.counts[rung] if rung >= 0 else 0
        return job.counts[rung + 1] - held <= self.pool.room(job.item)

    def grow(self, job: Contender) -> bool:
        """Return a job its next count, and tell whether that was left."""
        if not self.may_grow(job):
            return False
        self.set(job, self.rung(job) + 1)
        return True

    def start(self, jobs: Iterable[Contender]) -> list[Contender]:
        """Grant jobs their fewest GPUs, one after the other, and name those for whom they were left."""
        return [job for job in jobs if self.grow(job)]

    def set(self, job: Contender, rung: int) -> None:
        """Grant a job one of its counts, by its place among them, in place of what it has been given."""
        if (holding := self.holdings.get(job.number)) is not None:
            self.pool.give_back(holding)
        taken = self.pool.take(job.item, job.counts[rung], self._before.get(job.number))
        self.holdings[job.number], self._rungs[job.number] = taken, rung
