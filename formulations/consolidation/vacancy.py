"""Vacancy: the free GPUs of a cluster, as a tree of the groups that its tiers form."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from gsopt.problems.consolidation import Consolidation
from gsopt.scenario.cluster import MACHINE


@dataclass(frozen=True)
class VacantGroup:
    """A group of GPUs on one tier, some of which are free."""

    level: int  # index of its tier among the cluster's, 0 for the innermost
    parent: int  # index of the group around it; the whole cluster is its own parent
    free: int  # free GPUs in it
    whole: bool = False  # whether it is a machine without a busy GPU


@dataclass(frozen=True, eq=False)
class Vacancy:
    """The groups that have free GPUs, innermost first. The last one is always the whole cluster."""

    nodes: tuple[VacantGroup, ...]  # the groups
    # numbers of the free GPUs of each innermost group; these are the first nodes
    gpus: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, problem: Consolidation) -> "Vacancy":
        """Group the free GPUs of a problem."""
        busy = frozenset(problem.busy)
        free = [gpu for gpu in range(problem.cluster.gpus) if gpu not in busy]
        members: list[dict[int, list[int]]] = []
        for level in problem.cluster.levels:
            members.append({})
            groups = problem.cluster.group_of_gpu(level)
            for gpu in free:
                members[-1].setdefault(groups[gpu], []).append(gpu)
        members[-1].setdefault(0, [])  # the whole cluster, also where nothing is free
        return cls(tuple(_nodes(problem, members)), tuple(map(tuple, members[0].values())))

    @property
    def root(self) -> int:
        """The index of the whole cluster."""
        return len(self.nodes) - 1

    @cached_property
    def levels(self) -> tuple[tuple[int, ...], ...]:
        """The indices of the groups on each level."""
        count = self.nodes[-1].level + 1
        return tuple(
            tuple(v for v, node in enumerate(self.nodes) if node.level == level) for level in range(count)
        )

    @cached_property
    def room(self) -> tuple[int, ...]:
        """The maximum number of free GPUs in any group, by level."""
        return tuple(max((self.nodes[v].free for v in level), default=0) for level in self.levels)

    @cached_property
    def within(self) -> tuple[tuple[int, ...], ...]:
        """The indices of the groups inside each group, with the group itself as the last one."""
        inside: list[list[int]] = [[] for _ in self.nodes]
        for v in range(len(self.nodes)):
            for u in self.path(v):
                inside[u].append(v)
        return tuple(map(tuple, inside))

    @cached_property
    def leaves(self) -> tuple[tuple[int, ...], ...]:
        """The indices of the innermost groups inside each group."""
        return tuple(tuple(v for v in inside if v < len(self.gpus)) for inside in self.within)

    @cached_property
    def stems(self) -> tuple[int, ...]:
        """The indices of the groups directly around innermost groups."""
        return tuple(dict.fromkeys(self.nodes[v].parent for v in range(len(self.gpus))))

    @property
    def without_innermost(self) -> "Vacancy":
        """The same free GPUs without the innermost groups, so that the groups around these are innermost.

        `VacantGroup.whole` is False for all groups.
        """
        first = len(self.gpus)
        gpus = tuple(tuple(gpu for leaf in self.leaves[v] for gpu in self.gpus[leaf]) for v in self.levels[1])
        nodes = (VacantGroup(node.level - 1, node.parent - first, node.free) for node in self.nodes[first:])
        return Vacancy(tuple(nodes), gpus)

    def path(self, v: int) -> Iterator[int]:
        """Yield a group and the groups around it, up to the whole cluster."""
        while True:
            yield v
            if v == self.root:
                return
            v = self.nodes[v].parent

    def around(self, v: int, level: int) -> int:
        """Return the group on the given level that contains a group, or the group itself.

        The group itself is returned if it is on that level or on a wider one.
        """
        return next(u for u in self.path(v) if self.nodes[u].level >= level)


def _nodes(problem: Consolidation, members: Sequence[dict[int, list[int]]]) -> Iterator[VacantGroup]:
    """Yield the groups level by level, each with the group around it."""
    machines, own = problem.cluster.machines, problem.cluster.levels.index(MACHINE)
    number = {
        (level, gpus[0]): number
        for number, (level, gpus) in enumerate(
            (level, gpus) for level, groups in enumerate(members) for gpus in groups.values() if gpus
        )
    }
    around = [
        {gpu: number[level, gpus[0]] for gpus in groups.values() for gpu in gpus}
        for level, groups in enumerate(members)
    ]
    for level, groups in enumerate(members):
        outer = min(level + 1, len(members) - 1)
        for group, gpus in groups.items():
            whole = level == own and machines[group].gpus == len(gpus)
            yield VacantGroup(level, around[outer][gpus[0]] if gpus else 0, len(gpus), whole)
