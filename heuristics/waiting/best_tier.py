"""Best tier: list scheduling with jobs that wait for GPUs on their best tier, or accept any tier."""

from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from typing import Literal, get_args

from gsopt.core.errors import require_one_of
from gsopt.core.method import heuristic
from gsopt.core.numbers.grid import Exact, decimal
from gsopt.problems.waiting import CellShare, Waiting, WaitingSolution

Order = Literal["shortest", "smallest", "release"]


@heuristic
def best_tier(problem: Waiting, *, order: Order = "shortest", wait: bool = True) -> WaitingSolution:
    """Start waiting jobs in order whenever GPUs are free, by default only on a job's best tier.

    Whenever a job is released or ends, the waiting jobs are considered in order, and those that do not fit are
    skipped. The best tier of a job is the innermost tier at which one group of GPUs, such as a machine or a
    rack, could hold it in the empty cluster. Of the groups with enough free GPUs, the one with the fewest is
    used. Within it, machines (or other innermost groups) with the most free GPUs are used first.

    Source: list scheduling, with the fully consolidated placement that is a baseline of Dally (section V).
    Complexity: O(jobs^2 * groups).

    Parameters
    ----------
    problem
        The problem.
    order
        ``"shortest"``: by run time on the best tier; ``"smallest"``: by this run time, multiplied by the number
        of GPUs; ``"release"``: by release date. Ties go to the earlier release, then to the earlier job in the
        problem.
    wait
        Whether a job waits for its best tier. Otherwise, it starts on the innermost tier with enough free GPUs.

    Raises
    ------
    InvalidInput
        The order is unknown.

    Examples
    --------
    >>> from gsopt.scenario.cluster import Cluster
    >>> from gsopt.scenario.job import Job
    >>> jobs = [Job(name=n, release_date=0, duration=10, gpus=3, model="resnet18") for n in "abc"]
    >>> problem = Waiting(cluster=Cluster.uniform(racks=2, machines=1, gpus=5), jobs=jobs)
    >>> best_tier(problem).objective, best_tier(problem, wait=False).objective
    (Fraction(214, 15), Fraction(1021, 10))
    """
    require_one_of("order", order, get_args(Order))
    return problem.started(_Listing(problem, order, wait=wait).shares())


class _Listing:
    def __init__(self, problem: Waiting, order: Order, *, wait: bool) -> None:
        self.problem, self.wait = problem, wait
        self.tiers = {tier: number for number, tier in enumerate(problem.tiers)}
        self.free = [len(cell) for cell in problem.cells]
        self.groups = [
            [[c for c, cell in enumerate(problem.cells) if cell.start in group] for group in groups]
            for groups in problem.groups
        ]
        self.best = [self.tiers[problem.cluster.best_tier(job.gpus)] for job in problem.jobs]
        self.releases = [decimal(job.release_date) for job in problem.jobs]
        key = self._keys()[order]
        self.waiting = sorted(range(len(problem.jobs)), key=lambda job: (key(job), self.releases[job], job))

    def shares(self) -> list[CellShare]:
        """Return the jobs with their GPUs, in the order in which they start."""
        ends: list[tuple[Exact, int]] = []
        held: dict[int, Mapping[int, int]] = {}
        found: list[CellShare] = []
        for release in self.releases:
            heappush(ends, (release, -1))
        while self.waiting:
            now, job = heappop(ends)
            for cell, count in held.pop(job, {}).items():
                self.free[cell] += count
            if ends and ends[0][0] == now:
                continue
            for starting, tier, counts in self._starting(now):
                run = self.problem.run_times(self.problem.jobs[starting])[tier]
                heappush(ends, (now + run, starting))
                held[starting] = counts
                found.append(CellShare(starting, counts))
        return found

    def _keys(self) -> dict[str, Callable[[int], Exact]]:
        def shortest(job: int) -> Exact:
            return self.problem.run_times(self.problem.jobs[job])[self.best[job]]

        return {
            "shortest": shortest,
            "smallest": lambda job: shortest(job) * self.problem.jobs[job].gpus,
            "release": lambda job: self.releases[job],
        }

    def _starting(self, now: Exact) -> list[tuple[int, int, dict[int, int]]]:
        """Allocate GPUs to the jobs that can start now; return these with their tiers and GPUs per cell."""
        found = []
        for job in list(self.waiting):
            last = self.best[job] if self.wait else len(self.groups) - 1
            chosen = None if self.releases[job] > now else self._take(job, last)
            if chosen is not None:
                self.waiting.remove(job)
                found.append((job, *chosen))
        return found

    def _take(self, job: int, last: int) -> tuple[int, dict[int, int]] | None:
        """Allocate GPUs to a job on the innermost tier with enough, no wider than `last`, or return None."""
        need = self.problem.jobs[job].gpus
        for tier in range(self.best[job], last + 1):
            rooms = [
                (room, group)
                for group in self.groups[tier]
                if (room := sum(self.free[cell] for cell in group)) >= need
            ]
            if not rooms:
                continue
            counts: dict[int, int] = {}
            for cell in sorted(min(rooms)[1], key=lambda cell: -self.free[cell]):
                if need and self.free[cell]:
                    counts[cell] = min(need, self.free[cell])
                    self.free[cell] -= counts[cell]
                    need -= counts[cell]
            return tier, counts
        return None
