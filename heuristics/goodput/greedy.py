"""Greedy: the best change of GPUs on one node, repeated until none improves the objective."""

import numpy as np
from numpy.typing import NDArray

from gsopt.core.budget import UNLIMITED, Budget
from gsopt.core.method import heuristic
from gsopt.core.numbers.tolerances import IMPROVEMENT
from gsopt.problems.goodput import Goodput, GoodputSolution
from heuristics.goodput.table import Counts, Floats, SpeedupTable

Mask = NDArray[np.bool_]


@heuristic
def greedy(problem: Goodput, *, budget: Budget = UNLIMITED) -> GoodputSolution:
    """Start with the current GPUs, and make the change with the largest gain until none improves the fitness.

    A change either gives a job another number of GPUs on one node, up to its current number plus the idle GPUs
    there, or moves one GPU on a node from one job to another. Ties go to the first kind of change, then to the
    first job (in a move, the one that gets the GPU), and then to the first node. A job begins without any GPUs
    if it cannot run on its current ones, or if it and an earlier job each run on several nodes and have a node
    in common.

    Parameters
    ----------
    problem
        The problem.
    budget
        Time limit.

    Notes
    -----
    Source: none; this is gsopt's own heuristic, for comparison with Pollux's search.

    Complexity: O(J N g) per change for J jobs on N nodes of g GPUs. Only changed entries are recomputed.

    Examples
    --------
    >>> from instances.goodput import running_jobs
    >>> problem = running_jobs(nodes=2, jobs=3, seed=1)
    >>> greedy(problem).solution.gpus
    {'j3': (1, 0), 'j2': (0, 4), 'j1': (3, 0)}
    """
    state = _State(SpeedupTable.of(problem))
    while not budget.passed and state.change():
        pass
    return state.table.solution(state.vectors)


class _State:
    """The GPUs of all jobs, and the gain from each other number of GPUs for a job on a node."""

    def __init__(self, table: SpeedupTable) -> None:
        problem = table.problem
        self.table = table
        self.gpus = np.array(problem.nodes, dtype=np.int64)
        self.counts = np.arange(int(self.gpus.max(initial=0)) + 1)
        self.vectors = np.zeros_like(table.current)
        self.now = np.zeros(len(table.current))  # the term of each job
        # Its term by GPUs on a node, shape (jobs, nodes, GPUs + 1); infinite where the job cannot run.
        self.after = np.zeros((*table.current.shape, len(self.counts)))
        parted = np.zeros(len(self.gpus), dtype=np.bool_)  # nodes with a part of a job that runs on several
        runs = table.speedup(table.current) >= 0
        for job, vector in enumerate(table.current):
            stands = vector > 0
            is_wide = np.count_nonzero(stands) > 1
            if runs[job] and not (is_wide and parted[stands].any()):
                self.vectors[job] = vector
                parted |= stands & is_wide
            if vector.size:
                self._update(job)
        self.gains = np.zeros_like(self.after)  # by how much the term falls
        self.most = np.zeros(self.vectors.shape)  # the largest that the idle GPUs and its own allow
        self._compare(np.ones(len(self.now), dtype=np.bool_), np.ones(len(self.gpus), dtype=np.bool_))

    def change(self) -> bool:
        """Make the best change, and return whether it improves the objective."""
        if not self.vectors.size:
            return False
        gains, own = self.gains, self.vectors
        more = np.where(own < self.gpus, _at(gains, np.minimum(own + 1, self.counts[-1])), -np.inf)
        less = np.where(own > 0, _at(gains, np.maximum(own - 1, 0)), -np.inf)
        giver, given = _best_other(less)
        moved = more + given
        if max(self.most.max(), moved.max()) <= IMPROVEMENT * self.now.sum():
            return False
        if self.most.max() >= moved.max():
            job, node = np.unravel_index(self.most.argmax(), self.most.shape)
            room = own[job, node] + self.gpus[node] - own[:, node].sum()
            changed = {int(job): int(gains[job, node, : room + 1].argmax()) - int(own[job, node])}
        else:
            job, node = np.unravel_index(moved.argmax(), moved.shape)
            changed = {int(job): 1, int(giver[job, node]): -1}
        stood = _any(own[list(changed)] > 0, axis=0)
        for each, gpus in changed.items():
            own[each, node] += gpus
            self._update(each)
        touched = stood | _any(own[list(changed)] > 0, axis=0)
        jobs = _any(own[:, touched] > 0, axis=1)
        jobs[list(changed)] = True
        self._compare(jobs, touched)
        return True

    def _update(self, job: int) -> None:
        """Recompute a job's term of the objective for each number of GPUs on each node."""
        own, current = self.vectors[job], self.table.current[job]
        stands, moves = own > 0, own != current
        nodes = _elsewhere(stands) + (self.counts > 0)
        gpus = _elsewhere(own) + self.counts
        speedups = self.table.at(job, nodes, gpus)
        restarts = (_elsewhere(moves) > 0) | (self.counts != current[..., None])
        counted = self.table.counted(np.maximum(speedups, 0.0), restarts, self.table.factors[job])
        self.after[job] = np.where(speedups >= 0, counted, np.inf)
        self.now[job] = counted[0, own[0]]

    def _compare(self, jobs: Mask, nodes: Mask) -> None:
        """Recompute the gains of some jobs on all nodes, and of all jobs on some nodes."""
        stands = self.vectors > 0
        parts = stands & (stands.sum(axis=1) > 1)[:, None]
        taken = parts.sum(axis=0) > parts  # where another job on several nodes runs
        others, meets = _elsewhere(stands), _elsewhere(stands & taken) > 0
        room = self.vectors + self.gpus - self.vectors.sum(axis=0)
        every = np.ones_like(jobs), np.ones_like(nodes)
        for some in (np.ix_(jobs, every[1]), np.ix_(every[0], nodes)):
            gains = self.now[some[0]][..., None] - self.after[some]
            unfit = meets[some]
            np.copyto(gains[..., :1], -np.inf, where=(others[some] > 1) & unfit)
            np.copyto(gains[..., 1:], -np.inf, where=(others[some] > 0) & (unfit | taken[some][..., None]))
            self.gains[some] = gains
            self.most[some] = np.where(self.counts <= room[some][..., None], gains, -np.inf).max(axis=2)


def _any(of: Mask, axis: int) -> Mask:
    return np.asarray(of.any(axis=axis))


def _elsewhere(of: Counts | Mask) -> Counts:
    """Return, for each node, the sum of the job's values over all other nodes, shape (..., nodes, 1)."""
    found: Counts = (of.sum(axis=-1, keepdims=True) - of)[..., None]
    return found


def _at(gains: Floats, counts: Counts) -> Floats:
    found: Floats = np.take_along_axis(gains, counts[..., None], axis=2)[..., 0]
    return found


def _best_other(less: Floats) -> tuple[Counts, Floats]:
    """Return, for each job and node, the other job that gives up a GPU at the least loss, and its change."""
    order = np.argsort(-less, axis=0, kind="stable")
    first, second = order[0], order[min(1, len(order) - 1)]
    giver = np.where(np.arange(len(less))[:, None] == first, second, first)
    given = np.take_along_axis(less, giver, axis=0)
    return giver, np.where(giver == np.arange(len(less))[:, None], -np.inf, given)
