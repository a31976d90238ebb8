"""Greedy: one change after the other, on the node where it gains most."""

import numpy as np
from numpy.typing import NDArray

from gsopt.method import heuristic
from gsopt.problems.goodput import Goodput, GoodputSolution
from gsopt.tolerances import IMPROVEMENT
from heuristics.goodput.table import Counts, Floats, Table


@heuristic
def greedy(problem: Goodput) -> GoodputSolution:
    """From what jobs have now, make the change that gains most until none gains anything.

    A change is another number of GPUs of one job on one node, of those that are idle there and its own; or one
    GPU that a job takes from another one. Of equal changes the first node's, and the first job's, is made.

    Parameters
    ----------
    problem
        The problem.

    Notes
    -----
    Source: ours, to compare the search of Pollux with.

    Complexity: O(J N g) for each change, of J jobs on N nodes of g GPUs.

    Examples
    --------
    >>> from instances.goodput import running_jobs
    >>> problem = running_jobs(nodes=2, jobs=3, seed=1)
    >>> greedy(problem).solution.gpus
    {'j3': (1, 0), 'j2': (0, 4), 'j1': (3, 0)}
    """
    state = _State(Table.of(problem))
    while state.change():
        pass
    return state.table.solution(state.vectors)


class _State:
    """What jobs have, and what each other number of GPUs on a node would gain."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.gpus = np.array(table.problem.nodes, dtype=np.int64)
        self.vectors = np.zeros_like(table.current)
        for job, vector in enumerate(table.current):
            self.vectors[job] = vector
            if table.speedup(self.vectors)[job] < 0 or (self._parts().sum(axis=0) > 1).any():
                self.vectors[job] = 0

    def change(self) -> bool:
        """Make the best change; tell whether one gains anything."""
        if not self.vectors.size:
            return False
        gains, own = self._gains(), self.vectors
        counts = np.arange(gains.shape[2])
        free = self.gpus - own.sum(axis=0)
        alone = np.where(counts <= (own + free)[..., None], gains, -np.inf)
        more = np.where(own < self.gpus, _at(gains, np.minimum(own + 1, counts[-1])), -np.inf)
        less = np.where(own > 0, _at(gains, np.maximum(own - 1, 0)), -np.inf)
        giver, given = _best_other(less)
        moved = more + given
        if max(alone.max(), moved.max()) <= IMPROVEMENT * self._counted().sum():
            return False
        if alone.max() >= moved.max():
            job, node, count = np.unravel_index(alone.argmax(), alone.shape)
            self.vectors[job, node] = count
        else:
            job, node = np.unravel_index(moved.argmax(), moved.shape)
            self.vectors[job, node] += 1
            self.vectors[giver[job, node], node] -= 1
        return True

    def _parts(self) -> NDArray[np.bool_]:
        """Tell which nodes hold a part of which job on several."""
        stands = self.vectors > 0
        parts: NDArray[np.bool_] = stands & (stands.sum(axis=1) > 1)[:, None]
        return parts

    def _counted(self) -> Floats:
        """Give what each job counts."""
        restarts = (self.vectors != self.table.current).any(axis=1)
        return self.table.counted(self.table.speedup(self.vectors), restarts)

    def _gains(self) -> Floats:
        """Give by how much a job counts less with so many GPUs on a node, shape (jobs, nodes, GPUs + 1).

        Minus infinity where it does not run, or a part of it would meet that of another job.
        """
        own, stands, total = self.vectors, self.vectors > 0, int(self.gpus.sum())
        counts = np.arange(int(self.gpus.max()) + 1)
        nodes = _elsewhere(stands) + (counts > 0)
        gpus = _elsewhere(own) + counts
        speedups = self.table.speedups[np.arange(len(own))[:, None, None], nodes, np.minimum(gpus, total)]
        restarts = (_elsewhere(own != self.table.current) > 0) | (counts != self.table.current[..., None])
        across = np.moveaxis(np.maximum(speedups, 0.0), 0, -1)
        after = np.moveaxis(self.table.counted(across, np.moveaxis(restarts, 0, -1)), -1, 0)
        parts = self._parts()
        taken = parts.sum(axis=0) > parts  # where another job has a part
        meets = (nodes > 1) & ((_elsewhere(stands & taken) > 0) | ((counts > 0) & taken[..., None]))
        return np.where(
            (speedups >= 0) & (gpus <= total) & ~meets, self._counted()[:, None, None] - after, -np.inf
        )


def _elsewhere(of: Counts | NDArray[np.bool_]) -> Counts:
    """Give the sum over all nodes but each, shape (jobs, nodes, 1)."""
    found: Counts = (of.sum(axis=1, keepdims=True) - of)[..., None]
    return found


def _at(gains: Floats, counts: Counts) -> Floats:
    found: Floats = np.take_along_axis(gains, counts[..., None], axis=2)[..., 0]
    return found


def _best_other(less: Floats) -> tuple[Counts, Floats]:
    """Give the job, other than each, that loses least by a GPU less on a node, and what that changes."""
    order = np.argsort(-less, axis=0, kind="stable")
    first, second = order[0], order[min(1, len(order) - 1)]
    giver = np.where(np.arange(len(less))[:, None] == first, second, first)
    given = np.take_along_axis(less, giver, axis=0)
    return giver, np.where(giver == np.arange(len(less))[:, None], -np.inf, given)
