"""Packing: a placement of job options on nodes, which is improved within the remaining room."""

from collections.abc import Iterable, Sequence
from math import inf

from formulations.goodput.case import GoodputCase, GoodputOption, Vector
from gsopt.core.budget import Budget

#: Maximum number of rounds in which each job takes the best option that the others leave.
_ROUNDS = 10


class NodePacking:
    """The chosen options of all jobs, their GPUs on the nodes, and the remaining room."""

    def __init__(self, case: GoodputCase) -> None:
        self.case = case
        self.chosen = [options[0] for options in case.options]
        self.vectors: list[Vector] = [(0,) * len(case.problem.nodes)] * len(case.options)
        self._free = list(case.problem.nodes)
        self._wide = [False] * len(case.problem.nodes)  # whether a node holds a part of a job on several

    @property
    def cost(self) -> float:
        """The total cost of all jobs, in double precision."""
        return sum(option.cost for option in self.chosen)

    def put(self, job: int, option: GoodputOption) -> bool:
        """Place an option of a job that has no GPUs, if there is room for it, and return whether there was."""
        vector = self._vector(job, option)
        if vector is None:
            return False
        self._add(vector, -1)
        self.chosen[job], self.vectors[job] = option, vector
        return True

    def take(self, job: int) -> None:
        """Take all GPUs away from a job."""
        self._add(self.vectors[job], 1)
        self.chosen[job], self.vectors[job] = self.case.options[job][0], (0,) * len(self._free)

    def improve(self, orders: Sequence[Sequence[GoodputOption]], budget: Budget) -> None:
        """Move jobs one by one to their cheapest options that fit, in at most ten rounds, while moves help.

        `orders` lists the options of each job in ascending order of cost.
        """
        for _ in range(_ROUNDS):
            before = list(self.chosen)
            for job, order in enumerate(orders):
                if budget.passed:
                    return
                self._improve(job, order)
            if self.chosen == before:
                return

    def exchange(self, jobs: Iterable[int], orders: Sequence[Sequence[GoodputOption]], budget: Budget) -> None:
        """Let each given job without GPUs displace another job if this lowers the total cost of both.

        The displaced job then gets its cheapest option that still fits.
        """
        for job in jobs:
            for other in range(len(orders)):
                if budget.passed or self.chosen[job].gpus:
                    break
                if self.chosen[other].gpus:
                    self._exchange(job, other, orders)

    def _improve(self, job: int, order: Iterable[GoodputOption]) -> None:
        before = self._lift(job)
        self._place_first(job, order, before[0].cost)
        if self.chosen[job].cost >= before[0].cost:
            self.take(job)
            self._restore(job, *before)

    def _exchange(self, job: int, other: int, orders: Sequence[Sequence[GoodputOption]]) -> None:
        own, before = self.chosen[job], self._lift(other)
        self._place_first(job, orders[job], own.cost)
        self._place_first(other, orders[other], inf)
        if self.chosen[job].cost + self.chosen[other].cost >= own.cost + before[0].cost:
            self.take(job)
            self.take(other)
            self._restore(other, *before)

    def _place_first(self, job: int, order: Iterable[GoodputOption], cost: float) -> None:
        """Assign a job without GPUs the first option in its order that fits and costs less than `cost`."""
        for option in order:
            if option.cost >= cost or self.put(job, option):
                return

    def _lift(self, job: int) -> tuple[GoodputOption, Vector]:
        before = self.chosen[job], self.vectors[job]
        self.take(job)
        return before

    def _restore(self, job: int, option: GoodputOption, vector: Vector) -> None:
        self._add(vector, -1)
        self.chosen[job], self.vectors[job] = option, vector

    def _add(self, vector: Vector, sign: int) -> None:
        used = [node for node, count in enumerate(vector) if count]
        for node in used:
            self._free[node] += sign * vector[node]
            if len(used) > 1:
                self._wide[node] = sign < 0

    def _vector(self, job: int, option: GoodputOption) -> Vector | None:
        """Find nodes for an option: the current ones, the fullest node with room, or the emptiest ones."""
        if option.keeps:
            return self._kept(self.case.problem.currents[job])
        if option.gpus == 0:
            return (0,) * len(self._free)
        return self._spread(option) if option.is_wide else self._fitted(option.gpus)

    def _kept(self, vector: Vector) -> Vector | None:
        used = [node for node, count in enumerate(vector) if count]
        crowded = len(used) > 1 and any(self._wide[node] for node in used)
        return None if crowded or any(vector[node] > self._free[node] for node in used) else vector

    def _fitted(self, gpus: int) -> Vector | None:
        room = [(free, node) for node, free in enumerate(self._free) if free >= gpus]
        if not room:
            return None
        _, best = min(room)
        return tuple(gpus if node == best else 0 for node in range(len(self._free)))

    def _spread(self, option: GoodputOption) -> Vector | None:
        nodes = [node for node, free in enumerate(self._free) if free and not self._wide[node]]
        nodes.sort(key=lambda node: -self._free[node])
        for number in range(option.least, min(option.most, len(nodes)) + 1):
            if sum(self._free[node] for node in nodes[:number]) >= option.gpus:
                return self._shared(nodes[:number], option.gpus)
        return None

    def _shared(self, nodes: Sequence[int], gpus: int) -> Vector:
        vector = [0] * len(self._free)
        for place, node in enumerate(nodes):
            vector[node] = min(self._free[node], gpus - (len(nodes) - place - 1))
            gpus -= vector[node]
        return tuple(vector)


def pack(case: GoodputCase, wanted: Iterable[GoodputOption]) -> NodePacking:
    """Place the wanted options: first those in which jobs keep their GPUs, then the others, largest first.

    Jobs that do not fit get no GPUs.
    """
    packing = NodePacking(case)
    for job, option in sorted(enumerate(wanted), key=lambda each: (not each[1].keeps, -each[1].gpus)):
        packing.put(job, option)
    return packing
