"""Case: a problem as all consolidation models see it, and the placements that follow from their solutions."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from formulations.consolidation.kinds import JobKind, kinds
from formulations.consolidation.vacancy import Vacancy
from gsopt.problems.consolidation import Consolidation, ConsolidationSolution

#: Minimum number of levels that are kept: the innermost groups, and the whole cluster.
_FEWEST_LEVELS = 2

#: The number of jobs that stay within a group, keyed by the indices of the kind of job and the group.
Stays = Mapping[tuple[int, int], int]


@dataclass(frozen=True, eq=False)
class ConsolidationCase:
    """A problem as the models see it: kinds of jobs, and groups of free GPUs in which they may stay.

    The value of a job depends only on the innermost group that holds all its GPUs. A job on one machine takes
    GPUs of that machine. A job on a rack takes any of the GPUs left on the rack, no matter how they are split
    among machines. So a choice of groups is feasible if and only if the jobs that stay within each group need
    at most as many GPUs as are free in the group.

    This equivalence does not hold if the penalty depends on the split itself, as in an analytical model of
    communication. The models here need penalties by tier, measured or computed.

    Source: Dally, section III-B, for values by tier only.
    """

    problem: Consolidation
    vacancy: Vacancy  # the free GPUs
    kinds: tuple[JobKind, ...]  # the jobs that can be placed

    @classmethod
    def of(cls, problem: Consolidation) -> "ConsolidationCase":
        """Group the free GPUs and the jobs of a problem."""
        vacancy = Vacancy.of(problem)
        return cls(problem, vacancy, kinds(problem, vacancy.room))

    @property
    def coarsest(self) -> "ConsolidationCase":
        """The same case without the innermost levels on which no job is worth more than on the next wider one.

        If every job needs several machines, for example, machines are left out. Then racks with equally many
        free GPUs are interchangeable, and can be filled by patterns as machines can. At least two levels stay.
        All levels stay if the objective counts entirely free machines and some machine has no busy GPU.
        """
        case = self
        while len(case.vacancy.levels) > _FEWEST_LEVELS and not case.alone and not case.untouched:
            kinds_outside = tuple(kind.without_innermost for kind in case.kinds)
            case = ConsolidationCase(case.problem, case.vacancy.without_innermost, kinds_outside)
        return case

    @cached_property
    def alone(self) -> tuple[int, ...]:
        """The distinct demands of the jobs that may stay within one innermost group, in descending order."""
        return tuple(sorted({kind.gpus for kind in self.kinds if 0 in kind.levels}, reverse=True))

    @cached_property
    def required(self) -> int:
        """The maximum number of jobs that can be placed, if this number is the primary objective; otherwise, 0.

        This many jobs must be placed. Any jobs that together need no more GPUs than are free fit on the
        cluster, so the smallest jobs yield the maximum.
        """
        if not self.problem.job_bonus:
            return 0
        needs = accumulate(sorted(kind.gpus for kind in self.kinds for _ in kind.jobs))
        return sum(need <= self.vacancy.nodes[-1].free for need in needs)

    @property
    def bonus(self) -> int:
        """The total bonus for the jobs that must be placed."""
        return self.problem.job_bonus * self.required

    @cached_property
    def untouched(self) -> tuple[int, ...]:
        """The machines without a busy GPU if the objective counts entirely free machines; otherwise, none."""
        if not self.problem.machine_bonus:
            return ()
        return tuple(v for v, node in enumerate(self.vacancy.nodes) if node.whole)

    def located(self, solution: ConsolidationSolution) -> Stays:
        """Return how many jobs of each kind a solution places in each group.

        If a job's level is not worth considering for its kind, the job counts on the next wider level that
        is. Jobs that are never worth placing are left out.
        """
        kind_of = {self.problem.jobs[j].name: k for k, kind in enumerate(self.kinds) for j in kind.jobs}
        leaf_of = {gpu: leaf for leaf, gpus in enumerate(self.vacancy.gpus) for gpu in gpus}
        found: Counter[tuple[int, int]] = Counter()
        for name, gpus in solution.placed.items():
            if name in kind_of:  # others are worth nothing
                k = kind_of[name]
                joined = self.joined({leaf_of[gpu] for gpu in gpus})
                level = self.kinds[k].counted(self.vacancy.nodes[joined].level)
                found[k, self.vacancy.around(joined, level)] += 1
        return found

    def spared(self, solution: ConsolidationSolution) -> tuple[int, ...]:
        """Return the machines that a solution leaves entirely free, if the objective counts them."""
        taken = {gpu for gpus in solution.placed.values() for gpu in gpus}
        used = {
            u
            for leaf, gpus in enumerate(self.vacancy.gpus)
            if not taken.isdisjoint(gpus)
            for u in self.vacancy.path(leaf)
        }
        return tuple(v for v in self.untouched if v not in used)

    def joined(self, leaves: Collection[int]) -> int:
        """Return the smallest group that contains the given innermost groups."""
        common = set(self.vacancy.path(next(iter(leaves))))
        for leaf in leaves:
            common &= set(self.vacancy.path(leaf))
        return min(common)

    def placed(self, stays: Stays, spared: Collection[int] = ()) -> ConsolidationSolution:
        """Assign GPUs to the jobs that stay in groups.

        Jobs in inner groups are placed before those in outer groups, and larger jobs before smaller ones. Each
        job takes the narrowest group within its own that has room; among several, it takes the one with the
        fewest free GPUs. Within this group, it takes GPUs from the innermost groups with the most room first.
        So a placement may be better than the choice of groups on which it is based, but never worse. `stays`
        must fit every group, and `spared` machines stay entirely free.
        """
        nodes = self.vacancy.nodes
        filling = _FreeGpus(self.vacancy, spared)
        waiting = {k: iter(kind.jobs) for k, kind in enumerate(self.kinds)}
        ordered = sorted(
            stays.items(), key=lambda stay: (nodes[stay[0][1]].level, -self.kinds[stay[0][0]].gpus)
        )
        chosen: dict[int, list[int]] = {}
        for (k, v), count in ordered:
            for _ in range(count):
                chosen[next(waiting[k])] = filling.take(self.kinds[k].gpus, v)
        return ConsolidationSolution(placed={self.problem.jobs[j].name: chosen[j] for j in sorted(chosen)})


class _FreeGpus:
    """The GPUs that are still free while jobs are being placed."""

    def __init__(self, vacancy: Vacancy, spared: Collection[int]) -> None:
        self.vacancy = vacancy
        self.left = [node.free for node in vacancy.nodes]
        self.gpus = [iter(gpus) for gpus in vacancy.gpus]
        for v in spared:
            for leaf in vacancy.leaves[v]:
                self._use(leaf, self.left[leaf])

    def take(self, gpus: int, v: int) -> list[int]:
        """Take GPUs within a group, from the narrowest group inside it that has enough."""
        nodes = self.vacancy.nodes
        enough = (u for u in self.vacancy.within[v] if self.left[u] >= gpus)
        narrowest = min(enough, key=lambda u: (nodes[u].level, self.left[u]))
        taken: list[int] = []
        for leaf in sorted(self.vacancy.leaves[narrowest], key=lambda leaf: -self.left[leaf]):
            count = min(gpus - len(taken), self.left[leaf])
            taken += [next(self.gpus[leaf]) for _ in range(count)]
            self._use(leaf, count)
        return sorted(taken)

    def _use(self, leaf: int, count: int) -> None:
        for u in self.vacancy.path(leaf):
            self.left[u] -= count
